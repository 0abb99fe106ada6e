import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { limitSignIn, requestCode, signIn } from '../../../sessions/sign-in'
import { deleteSession } from '../../../sessions/store'
import { parse, refusalOf } from '../../form'
import { page } from '../../page'
import { forgetSession, keepSession, userOf, userOfCookie } from '../../session'
import { addressPage } from './address'
import { codePage } from './code'
import { deadLinkPage, linkPage } from './link'
import { localPath } from './next'

const Email = z.object({ email: z.email('must be a valid email address').max(254) })

/** Sign-in: an email address, then the code that was sent to it. */
export const signInPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    // A signed-in user skips the form. Any error here shows it.
    const user = await userOfCookie(c, null).catch(() => null)
    return user ? c.redirect(next, 303) : addressPage(c, { next })
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
    await limitSignIn(c)
    const { challenge } = await requestCode(c.get('rt'), email, c.req.url)
    return codePage(c, { next, email, challenge })
  })
  .post('/sign-in/code', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const challenge = form.get('challenge') ?? ''
    const email = form.get('email') ?? ''
    await limitSignIn(c)
    const token = await redeemed(c, challenge, form.get('code') ?? '')
    if (token === null) return codePage(c, { next, email, challenge }, true)
    keepSession(c, token)
    return c.redirect(next, 303)
  })
  .post('/sign-out', page('user'), async (c) => {
    const { id, user_id } = userOf(c)
    await deleteSession(c.get('rt').db, user_id, id)
    forgetSession(c)
    return c.redirect('/console/sign-in?done=signed_out', 303)
  })

/**
 * The link in a sign-in email opens a page with a button: mail scanners fetch links, and a code works only once. The
 * button signs this browser in. API clients send the code to POST /auth/sessions instead.
 */
export const linkPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), (c) => {
    const { challenge = '', code = '' } = c.req.query()
    return linkPage(c, { challenge, code })
  })
  .post('/sign-in', page('anyone'), async (c) => {
    await limitSignIn(c)
    const form = c.get('form')
    const token = await redeemed(c, form.get('challenge') ?? '', form.get('code') ?? '')
    if (token === null) return deadLinkPage(c)
    keepSession(c, token)
    return c.redirect('/console', 303)
  })

/** Exchanges a code for a new session's token. @returns null if the code is incorrect, used or expired */
async function redeemed(c: Context<HttpEnv>, challenge: string, code: string): Promise<string | null> {
  try {
    return (await signIn(c.get('rt'), challenge, code, c.req.header('User-Agent'))).token
  } catch (error) {
    if (error instanceof Fault && error.fault === 'invalid_code') return null
    throw error
  }
}
