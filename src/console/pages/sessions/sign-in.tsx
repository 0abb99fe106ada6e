import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { limitSignIn, requestCode, signIn } from '../../../sessions/sign-in'
import { deleteSession } from '../../../sessions/store'
import { type Mistakes, mistakesOf, page, parse } from '../../page'
import { forgetSession, keepSession, localPath, userOf, userOfCookie } from '../../session'
import { show } from '../../ui/layout'
import { Field, Head } from '../../ui/parts'

const Email = z.object({ email: z.email('has to be an e-mail address').max(254) })

/** Signing in: an address, then the code that was sent to it. */
export const signInPages = new Hono<HttpEnv>()
  .get('/sign-in', page('anyone'), async (c) => {
    const next = localPath(c, c.req.query('next'))
    // Whoever is signed in already is let through; any failure to tell leads to the form.
    const user = await userOfCookie(c, null).catch(() => null)
    return user ? c.redirect(next, 303) : askForAddress(c, next)
  })
  .post('/sign-in', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const email = (form.get('email') ?? '').trim()
    try {
      parse(Email, { email })
    } catch (error) {
      return askForAddress(c, next, email, mistakesOf(error).mistakes)
    }
    await limitSignIn(c)
    const { challenge } = await requestCode(c.get('rt'), email, c.req.url)
    return askForCode(c, { next, email, challenge })
  })
  .post('/sign-in/code', page('anyone'), async (c) => {
    const form = c.get('form')
    const next = localPath(c, form.get('next'))
    const challenge = form.get('challenge') ?? ''
    const email = form.get('email') ?? ''
    await limitSignIn(c)
    const token = await redeemed(c, challenge, form.get('code') ?? '')
    if (token === null) return askForCode(c, { next, email, challenge }, true)
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
    return show(
      c,
      { title: 'Sign in' },
      <>
        <Head title="Sign in" />
        <p>You asked to sign in with your e-mail address. If you did not, close this page.</p>
        <form method="post" action="/auth/sign-in">
          <input type="hidden" name="challenge" value={challenge} />
          <input type="hidden" name="code" value={code} />
          <button type="submit" class="primary">
            Sign in
          </button>
        </form>
      </>,
    )
  })
  .post('/sign-in', page('anyone'), async (c) => {
    await limitSignIn(c)
    const form = c.get('form')
    const token = await redeemed(c, form.get('challenge') ?? '', form.get('code') ?? '')
    if (token === null) {
      return show(
        c,
        { title: 'Sign in', status: 401 },
        <>
          <Head title="This link no longer works" />
          <p>It is spent, expired or cut short. A link is good once, for ten minutes.</p>
          <a class="button primary" href="/console/sign-in">
            Ask for a new one
          </a>
        </>,
      )
    }
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

function askForAddress(c: Context<HttpEnv>, next: string, email = '', mistakes: Mistakes = {}) {
  return show(
    c,
    { title: 'Sign in', status: mistakes.email ? 422 : 200 },
    <>
      <Head title="Sign in" />
      <p>We send you a code. There is no password to remember.</p>
      <form method="post" action="/console/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={email}
          autocomplete="email"
          required
          autofocus
          mistakes={mistakes}
        />
        <button type="submit" class="primary">
          Send the code
        </button>
      </form>
    </>,
  )
}

function askForCode(
  c: Context<HttpEnv>,
  { next, email, challenge }: { next: string; email: string; challenge: string },
  wrong = false,
) {
  const printed = c.get('rt').settings.signInDelivery === 'log'
  return show(
    c,
    { title: 'Enter the code', status: wrong ? 401 : 200 },
    <>
      <Head title="Enter the code" />
      <p>
        {printed ? 'This server prints the code in its terminal' : 'If it can sign in here, a code is on its way to'}
        {printed ? ', for ' : ' '}
        <strong>{email}</strong>. It is good for ten minutes.
      </p>
      <form method="post" action="/console/sign-in/code">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="challenge" value={challenge} />
        <Field
          name="code"
          label="Code"
          autocomplete="one-time-code"
          maxlength={20}
          required
          autofocus
          mistakes={wrong ? { code: 'The code is wrong, spent or expired.' } : {}}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p>
        <a href={`/console/sign-in?next=${encodeURIComponent(next)}`}>Send a new code</a>
      </p>
    </>,
  )
}
