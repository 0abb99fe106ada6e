import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { equalBytes, hex, hmac, utf8 } from '../lib/crypto'

/** What the forms of a session carry: nobody else can make it, and it says nothing of the session's own secret. */
export async function formTokenOf(rt: Runtime, sessionId: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(rt.settings.codePepper), `console form:${sessionId}`))
}

/** @throws {HTTPException} 403 where the form does not carry the session's token */
export function requireFormToken(form: URLSearchParams, token: string): void {
  if (!equalBytes(utf8(form.get('form_token') ?? ''), utf8(token))) throw refused()
}

/** @throws {HTTPException} 403 for a POST that a page of this origin did not send */
export function requireSameOrigin(c: Context<HttpEnv>): void {
  const site = c.req.header('Sec-Fetch-Site')
  const origin = c.req.header('Origin')
  const ours = new URL(c.req.url).origin
  const bySite = site === undefined || site === 'same-origin'
  const byOrigin = origin === undefined ? site !== undefined : origin === ours
  if (!bySite || !byOrigin) throw refused()
}

function refused(): HTTPException {
  return new HTTPException(403, {
    message: 'This form did not come from a page of your session. Go back, reload the page and send it again.',
  })
}
