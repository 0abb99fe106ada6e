import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { readBytes } from '../http/body'
import type { HttpEnv } from '../http/context'
import { MAX_BODY_BYTES } from '../http/validate'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { limitSignIn, signIn } from './sign-in'

/**
 * Where the link of a sign-in mail leads: a page with a button, because mail scanners fetch links and a code is good
 * once. The button answers with the session's token, this once; the page sets no cookie.
 */
export const linkRoutes = new Hono<HttpEnv>()
  .get('/sign-in', (c) => {
    const { challenge = '', code = '' } = c.req.query()
    return page(
      c,
      200,
      html`<p>Somebody, we hope you, asked to sign in with this address.</p>
        <form method="post" action="/auth/sign-in">
          <input type="hidden" name="challenge" value="${challenge}" />
          <input type="hidden" name="code" value="${code}" />
          <button type="submit">Sign in</button>
        </form>`,
    )
  })
  .post('/sign-in', async (c) => {
    await limitSignIn(c)
    // The page sends no other kind of form; a body that is none has no fields.
    const form = new URLSearchParams(new TextDecoder().decode(await readBytes(c.req.raw, MAX_BODY_BYTES)))
    try {
      const challenge = form.get('challenge')
      const code = form.get('code')
      if (challenge === null || code === null) throw new Fault('invalid_code', 'The link is cut short.')
      const { token, expires_at, user } = await signIn(c.get('rt'), challenge, code, c.req.header('User-Agent'))
      return page(
        c,
        201,
        html`<p>Signed in as ${user.email}, until ${iso(expires_at)}. Your session token, shown this once:</p>
          <pre><code>${token}</code></pre>
          <p>Send it as <code>Authorization: Bearer</code> to create projects and mint API keys.</p>`,
      )
    } catch (error) {
      if (!(error instanceof Fault) || error.fault !== 'invalid_code') throw error
      return page(c, 401, html`<p>This link is spent, expired or cut short. Ask for a new code.</p>`)
    }
  })

function page(c: Context<HttpEnv>, status: 200 | 201 | 401, content: ReturnType<typeof html>) {
  c.header('Content-Security-Policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
  c.header('Referrer-Policy', 'no-referrer')
  return c.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <title>Sign in</title>
        </head>
        <body>
          <h1>Sign in</h1>
          ${content}
        </body>
      </html>`,
    status,
  )
}
