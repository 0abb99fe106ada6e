import { Hono } from 'hono'
import * as z from 'zod'
import { clientOf } from '../../../accounts/by'
import { run } from '../../../db/client'
import { domainOf } from '../../../domains/names'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { idPattern } from '../../../lib/ids'
import { deleteSession } from '../../../sessions/session'
import {
  accountOf,
  endingOf,
  limitSignIn,
  limitSteps,
  type Redeemed,
  requestCode,
  signIn,
  takeStep,
} from '../../../sessions/sign-in'
import { findSsoConnection } from '../../../sso/connections/connection'
import { connectionsFor } from '../../../sso/team/routing'
import {
  browserOf,
  hideColumns,
  keepBrowser,
  keepMode,
  keepTheme,
  keepTimes,
  listWithColumns,
  modeOf,
  themeOf,
  timesOf,
} from '../../browser'
import { localPath, pageBefore } from '../../lead'
import { changed } from '../../list'
import { page, type Visit } from '../../page'
import { parse, refusalOf } from '../../refusal'
import { forgetSession, keepSession, type SignedIn, userOf, userOfCookie, visitorOf } from '../../session'
import { choicePage } from '../sso/choice'
import { refusalWords } from '../sso/words'
import { addressPage, signInCodePage } from './address'
import { deadLinkPage, signedOutPage, signInLinkPage } from './link'

const Email = z.object({ email: z.email('must be a valid email address').max(254) })

/** Sign-in: an email address, then the code that was sent to it. */
export const signInPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    // A signed-in user skips the form. Any error here shows it.
    const { refused, email = '' } = c.req.query()
    if (refused !== undefined) return addressPage(c, { next, refused: refusalWords(refused) })
    const user = await userOfCookie(c, null).catch(() => null)
    return user ? c.redirect(next, 303) : addressPage(c, { next, email })
  })
  .post('/sign-in', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const email = (form.get('email') ?? '').trim()
    try {
      parse(Email, { email })
    } catch (error) {
      return addressPage(c, { next, email }, refusalOf(error))
    }
    await limitSteps(c)
    const { directory } = c.get('rt')
    const connections = form.get('code') ? [] : await run(directory, connectionsFor(directory, domainOf(email) ?? ''))
    if (connections.length > 0) return choicePage(c, { email, next, connections })
    await limitSignIn(c)
    const { challenge } = await requestCode(c, email)
    return signInCodePage(c, { next, email, challenge })
  })
  .post('/sign-in/code', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const challenge = form.get('challenge') ?? ''
    const email = form.get('email') ?? ''
    // Somebody who types a code into this browser means to sign in here, so the previous session ends without a
    // question.
    const before = await visitorOf(c)
    const token = await redeemed(c, { challenge, code: form.get('code') ?? '' }, before)
    if (token === null) return signInCodePage(c, { next, email, challenge }, true)
    keepSession(c, token)
    return c.redirect(next, 303)
  })
  .post('/theme', page('user'), (c) => {
    keepTheme(c, themeOf(c.get('form').get('theme')))
    return c.redirect(pageBefore(c), 303)
  })
  .post('/mode', page('user'), (c) => {
    const form = c.get('form')
    const project = form.get('project') ?? ''
    if (idPattern('prj').test(project)) keepMode(c, project, modeOf(form.get('mode')))
    // The list that the visitor sees shows the choice, so it no longer has a mode of its own.
    const { pathname, searchParams } = new URL(pageBefore(c), c.req.url)
    const query = changed(searchParams, { livemode: null, cursor: null })
    return c.redirect(query === '?' ? pathname : pathname + query, 303)
  })
  .post('/times', page('user'), (c) => {
    keepTimes(c, timesOf(c.get('form').get('times')))
    return c.redirect(pageBefore(c), 303)
  })
  .post('/columns', page('user'), (c) => {
    const form = c.get('form')
    const shown = form.getAll('shown')
    const hidden = form.getAll('column').filter((head) => !shown.includes(head))
    hideColumns(c, listWithColumns(form.get('list')), hidden)
    return c.redirect(pageBefore(c), 303)
  })
  .post('/sign-out', page('user'), async (c) => {
    const { directory } = c.get('rt')
    const { id, sso } = userOf(c)
    await deleteSession(directory, id, endingOf(c))
    forgetSession(c)
    const [opener] = sso ? await run(directory, findSsoConnection(directory, sso.project_id, sso.connection_id)) : []
    if (opener?.end_session_endpoint) return signedOutPage(c, opener, opener.end_session_endpoint)
    return c.redirect('/console/sign-in?done=signed_out', 303)
  })

/**
 * The link in a sign-in email opens a page with a button: mail scanners fetch links, and a code works only once. The
 * button signs this browser in. API clients send the code to POST /auth/sessions instead.
 */
export const linkPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), async (c) => {
    const { challenge = '', code = '' } = c.req.query()
    return askOrRefuse(c, { challenge, code }, await visitorOf(c))
  })
  .post('/sign-in', page('anyone'), async (c) => {
    const form = c.get('form')
    const link = { challenge: form.get('challenge') ?? '', code: form.get('code') ?? '' }
    const before = await visitorOf(c)
    // This browser was signed in after the page was shown, or as somebody else.
    if (before && form.get('replaces') !== before.id) return askOrRefuse(c, link, before)
    const token = await redeemed(c, link, before)
    if (token === null) return deadLinkPage(c)
    keepSession(c, token)
    return c.redirect('/console', 303)
  })

async function askOrRefuse(c: Visit, link: Redeemed, present: SignedIn | null) {
  const email = await stepOrNull(c, link, () => accountOf(c.get('rt'), link, clientOf(c)))
  return email === null ? deadLinkPage(c) : signInLinkPage(c, { ...link, email }, present)
}

/**
 * Exchanges a code for a new session's token, and ends the session that it replaces in this browser.
 *
 * @returns null if the code is incorrect, used or expired
 */
async function redeemed(c: Visit, typed: Redeemed, before: SignedIn | null): Promise<string | null> {
  const browser = browserOf(c)
  const opened = await stepOrNull(c, typed, () => signIn(c, typed, { browser, replaces: before?.id ?? null }))
  if (opened) keepBrowser(c, browser)
  return opened?.token ?? null
}

/** Takes a step of a sign-in. @returns null in place of the fault `invalid_code`, which the log then has */
async function stepOrNull<T>(c: Visit, { challenge }: Redeemed, step: () => Promise<T>): Promise<T | null> {
  try {
    return await takeStep(c, challenge, step)
  } catch (error) {
    if (!(error instanceof Fault && error.fault === 'invalid_code')) throw error
    c.get('log').code = error.fault
    return null
  }
}
