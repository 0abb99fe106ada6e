import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import { batch, type Directory, run } from '../../db/client'
import { ssoLogins } from '../../identities/schema'
import { findSsoConnectionById, type SsoConnection } from '../connections/connection'
import { LOGIN_TTL } from '../limits'
import type { Identified } from '../oidc/oidc-client'

/** A sign-in that is under way. */
export type Login = typeof ssoLogins.$inferSelect
/** A login whose link nobody has opened yet. */
export type NewLogin = Pick<Login, 'id' | 'project_id' | 'connection_id' | 'mode' | 'redirect_to' | 'login_hint'> &
  Partial<Pick<Login, 'app_state' | 'code_challenge' | 'agreed_by'>>
/** The hashes of a login's state and of its browser's cookie: only that browser can come back with that state. */
export type Bound = { state_hash: string; browser_hash: string }

/** A login to insert, which ends {@link LOGIN_TTL} from now. */
export function loginRow(login: NewLogin, now: number): Login {
  const unused = { app_state: null, code_challenge: null, agreed_by: null }
  return { ...unused, ...login, state_hash: null, browser_hash: null, expires_at: now + LOGIN_TTL }
}

/**
 * Begins a login.
 *
 * @param bound for a login whose browser is here; null for one that begins with a link
 * @returns it
 */
export async function beginLogin(
  directory: Directory,
  login: NewLogin,
  bound: Bound | null,
  now: number,
): Promise<Login> {
  const row = { ...loginRow(login, now), ...bound }
  await run(directory, directory.insert(ssoLogins).values(row))
  return row
}

/**
 * Opens the link of a login in a browser, which works once. The link of a test run is sent around, and programs look at it
 * before people do: it is opened only if somebody `asked` for that.
 *
 * @returns the login and its connection, and whether it was opened now; null if it was opened before or has expired, or its
 *   connection is gone
 */
export async function openLogin(
  directory: Directory,
  { id, asked }: { id: string; asked: boolean },
  bound: Bound,
  now: number,
): Promise<{ login: Login; connection: SsoConnection; opened: boolean } | null> {
  const unopened = and(eq(ssoLogins.id, id), isNull(ssoLogins.state_hash), gt(ssoLogins.expires_at, now))
  const { opened, left, connections } = await batch(directory, {
    opened: directory
      .update(ssoLogins)
      .set({ ...bound, expires_at: now + LOGIN_TTL })
      .where(and(unopened, asked ? undefined : ne(ssoLogins.mode, 'test')))
      .returning(),
    left: directory.select().from(ssoLogins).where(unopened),
    connections: findSsoConnectionById(
      directory,
      sql`(SELECT ${ssoLogins.connection_id} FROM ${ssoLogins} WHERE ${eq(ssoLogins.id, id)})`,
    ),
  })
  const [connection] = connections
  const [login] = [...opened, ...left]
  return login && connection ? { login, connection, opened: opened.length > 0 } : null
}

/**
 * Takes the login that a browser comes back from, which works once, and only at the address of its own connection (RFC
 * 9700, section 4.4). The connection is there even if there is no such login.
 */
export async function takeLogin(
  directory: Directory,
  connectionId: string,
  { state_hash, browser_hash }: Bound,
  now: number,
): Promise<{ login: Login | null; connection: SsoConnection | null }> {
  const own = and(
    eq(ssoLogins.state_hash, state_hash),
    eq(ssoLogins.browser_hash, browser_hash),
    eq(ssoLogins.connection_id, connectionId),
    gt(ssoLogins.expires_at, now),
  )
  const { taken, connections } = await batch(directory, {
    taken: directory.delete(ssoLogins).where(own).returning(),
    connections: findSsoConnectionById(directory, connectionId),
  })
  return { login: taken[0] ?? null, connection: connections[0] ?? null }
}

/** A login that a browser has come back from, and who it is as the provider says. */
export type Finishing = { login: Login; connection: SsoConnection; identified: Identified }
