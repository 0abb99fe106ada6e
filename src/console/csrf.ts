import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { equalBytes, hex, hmac, utf8 } from '../lib/crypto'
import { newId } from '../lib/ids'
import type { SignedIn } from './session'

/** The token in a session's forms. Nobody else can compute it, and it does not reveal the session's own token. */
export async function formTokenOf(rt: Runtime, sessionId: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(rt.settings.codePepper), `console form:${sessionId}`))
}

/** A form that does not carry the token of the session: an earlier session of the browser filled it in. */
export class OfEarlierSession extends HTTPException {
  override readonly name = 'OfEarlierSession'
}

/** @throws {OfEarlierSession} 403 if the form does not carry the session's token */
export function requireFormToken(form: URLSearchParams, token: string): void {
  if (!equalBytes(utf8(form.get('form_token') ?? ''), utf8(token))) throw new OfEarlierSession(403)
}

/**
 * The id of the key or endpoint that a form will make, in a field of the form: a form that is sent again, by a reload for
 * example, names one that exists, and makes no other. Nobody can choose an id, because the field is signed for the session
 * and the project.
 */
export async function onceOf(rt: Runtime, user: SignedIn, id = newId('key', rt.now)): Promise<string> {
  const text = `console once:${user.id}:${user.project_id}:${id}`
  return `${id}.${hex(await hmac('SHA-256', utf8(rt.settings.codePepper), text))}`
}

/**
 * The id in a field of {@link onceOf}; a new one for a form without the field.
 *
 * @param fresh the new one; its prefix says what the form makes
 * @throws {HTTPException} 403 if the field was not made for this session, project and kind of thing
 */
export async function idIn(rt: Runtime, user: SignedIn, once: string | null, fresh = newId('key', rt.now)) {
  if (once === null) return fresh
  const [id = ''] = once.split('.', 1)
  if (id.split('_')[0] !== fresh.split('_')[0]) throw refused()
  if (!equalBytes(utf8(once), utf8(await onceOf(rt, user, id)))) throw refused()
  return id
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
