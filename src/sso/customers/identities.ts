import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, type Change, entriesOf } from '../../audit/store'
import { consumers } from '../../consumers/schema'
import { batch, type Db, type Directory, raw } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { insertWhere } from '../../db/insert-where'
import { holdersOfEmailDomain } from '../../domains/domain'
import { ssoCodes, ssoConnectionDomains, ssoConnections, ssoIdentities } from '../../identities/schema'
import { APP_CODE_TTL, MAX_SAME_ADDRESS } from '../limits'

const d = alias(ssoConnectionDomains, 'd')

const i = alias(ssoIdentities, 'i')

const s = alias(ssoConnections, 's')

/** What tells a person of a provider from all others. Never the email address. */
export type IdentityKey = { connection_id: string; issuer: string; subject: string }

function isKey({ connection_id, issuer, subject }: IdentityKey, t: typeof ssoIdentities | typeof i = ssoIdentities) {
  return and(eq(t.connection_id, connection_id), eq(t.issuer, issuer), eq(t.subject, subject))
}

/** Reads the identity of a person, if this is not their first sign-in. */
export function findIdentity(directory: Directory, key: IdentityKey) {
  const { id, consumer_id } = ssoIdentities
  return directory.select({ id, consumer_id }).from(ssoIdentities).where(isKey(key))
}

/** Reads whether a domain is one of the connection, and verified now: a row if it is. */
export function vouchesFor(
  directory: Directory,
  { project_id, id }: { project_id: string; id: string },
  hostname: string,
) {
  return raw(
    directory,
    { one: sql`1` },
    (fields) => sql`SELECT ${fields} FROM ${holdersOfEmailDomain(hostname)} h
      CROSS JOIN ${ssoConnectionDomains} ${d} ON ${d.project_id} = h.project_id AND ${d.domain_id} = h.id
      WHERE h.project_id = ${project_id} AND ${d.audience} = 'customers' AND ${d.connection_id} = ${id}`,
  )
}

/** One sign-in of a person. */
type SignIn = {
  project_id: string
  key: IdentityKey
  /** The identity that was read, or the id of the one to record. */
  identity: { id: string; isNew: boolean; consumer_id: string; email: string | null }
  code: {
    hash: string
    redirect_uri: string
    code_challenge: string | null
    /** Whether the sign-in makes the consumer, if the identity is still the one that is given here. */
    created: boolean
    /** What the exchange of the code returns about the person. */
    identity: Record<string, unknown>
  }
}

/**
 * Commits a sign-in: records the identity and its code in one transaction, which does nothing unless the connection is
 * active. If another first sign-in of the same person was faster, its identity counts, and so does its consumer.
 *
 * @returns the consumer that the code names; null if there is no code, because the connection is not active or the identity
 *   has been removed
 */
export async function commitSignIn(
  directory: Directory,
  { project_id, key, identity, code }: SignIn,
  change: Change,
): Promise<string | null> {
  const { now } = change
  const { id, isNew, consumer_id, email } = identity
  const row = { ...key, id, project_id, user_id: null, consumer_id, email, created_at: now, last_used_at: now }
  const active = isActive(project_id, key.connection_id)
  const entry = entryOf(project_id, id, 'sso.identity_linked', {
    connection: key.connection_id,
    consumer: consumer_id,
    created: code.created,
  })
  const recorded = isNew
    ? audited(directory, change, entry, insertWhere(directory, ssoIdentities, row, active).onConflictDoNothing())
    : {
        used: directory
          .update(ssoIdentities)
          .set({ last_used_at: now, email })
          .where(and(isKey(key), active)),
      }
  const { hash, redirect_uri, code_challenge } = code
  const { codes } = await batch(directory, {
    ...recorded,
    code: insertFrom(
      directory,
      ssoCodes,
      {
        hash: sql`${hash}`,
        project_id: i.project_id,
        redirect_uri: sql`${redirect_uri}`,
        code_challenge: sql`${code_challenge}`,
        consumer_id: i.consumer_id,
        created: sql`${i.id} = ${id} AND ${code.created ? 1 : 0}`,
        identity_id: i.id,
        identity: sql`${JSON.stringify(code.identity)}`,
        expires_at: sql`${Date.now() + APP_CODE_TTL}`,
      },
      sql`FROM ${ssoIdentities} ${i} WHERE ${isKey(key, i)} AND ${i.consumer_id} IS NOT NULL AND ${active}`,
    ),
    codes: directory.select({ consumer_id: ssoCodes.consumer_id }).from(ssoCodes).where(eq(ssoCodes.hash, hash)),
  })
  return codes[0]?.consumer_id ?? null
}

const entryOf = entriesOf('sso_identity')

function isActive(projectId: string, connectionId: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${ssoConnections} ${s} WHERE ${s.project_id} = ${projectId}
    AND ${s.id} = ${connectionId} AND ${s.state} = 'active')`
}

const m = alias(consumers, 'm')

/** Reads the consumers with an address, in any state: at most {@link MAX_SAME_ADDRESS}. @param email in lower case */
export function findByAddress(db: Db, projectId: string, email: string) {
  return raw(
    db,
    { id: m.id, state: m.state },
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${m} INDEXED BY consumers_email
      WHERE ${m.project_id} = ${projectId} AND ${m.email} = ${email} LIMIT ${MAX_SAME_ADDRESS}`,
  )
}
