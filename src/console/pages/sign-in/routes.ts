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

const Email = z.object({ email: z.email('has to be an e-mail address').max(254) })

/** Signing in: an address, then the code that was sent to it. */
export const signInPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    // Whoever is signed in already is let through; any failure to tell leads to the form.
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
 * Where the link of a sign-in mail leads: a page with a button, because mail scanners fetch links and a code is good
 * once. The button signs this browser in; whoever wants a token sends the code to POST /auth/sessions.
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

/** A new session's token; null for a code that is wrong, spent or expired. */
async function redeemed(c: Context<HttpEnv>, challenge: string, code: string): Promise<string | null> {
  try {
    return (await signIn(c.get('rt'), challenge, code, c.req.header('User-Agent'))).token
  } catch (error) {
    if (error instanceof Fault && error.fault === 'invalid_code') return null
    throw error
  }
}
