import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { equalBytes, hex, hmac, utf8 } from '../lib/crypto'

/** The token in a session's forms. Nobody else can compute it, and it does not reveal the session's own token. */
export async function formTokenOf(rt: Runtime, sessionId: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(rt.settings.codePepper), `console form:${sessionId}`))
}

/** @throws {HTTPException} 403 if the form does not carry the session's token */
export function requireFormToken(form: URLSearchParams, token: string): void {
  if (!equalBytes(utf8(form.get('form_token') ?? ''), utf8(token))) throw refused()
}

/** @throws {HTTPException} 403 if a POST was not sent from a page of this origin */
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
    message: 'This form was not sent from your current session. Go back, reload the page, and try again.',
  })
}
