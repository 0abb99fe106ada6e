import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { BoundedMap } from '../../lib/bounded-map'
import { Fault } from '../../lib/fault'
import { sealContext, unseal } from '../../lib/seal'
import { type Connection, findConnectionById } from '../connections/connection'
import { MAX_REMEMBERED, MAX_REMEMBERED_UNKNOWN, REMEMBER, REREAD_EVERY } from './limits'

/** A live signing secret, decrypted. `usedAt`: its last use that this isolate knows of (ms). */
export type LiveSecret = { id: string; text: string; usedAt: number }
/** A connection with its live secrets. They are decrypted only in the isolate's memory. */
export type LiveConnection = Pick<
  Connection,
  'id' | 'project_id' | 'vendor' | 'livemode' | 'version' | 'status' | 'verification'
> & {
  /** From when its database keeps packed bodies (ms). */
  packed_from: number
  secrets: LiveSecret[]
  /** Whether it has further secrets, which no encryption key opens. */
  unreadable: boolean
}
/** What this isolate remembers about an id, and when its read began (ms). Null: there is no such connection now. */
export type Known = { connection: LiveConnection | null; readAt: number }

const known = new BoundedMap<string, Known>(MAX_REMEMBERED)
/**
 * Ids without a connection. They have a map of their own, so that invented ids do not push connections out of memory.
 */
const unknown = new BoundedMap<string, Known>(MAX_REMEMBERED_UNKNOWN)

/** Whether this isolate has a connection with this id in its memory. */
export function isRemembered(id: string): boolean {
  return known.has(id)
}

/**
 * A connection from this isolate's memory, or from D1. Memory may be a minute old. Recording checks the version, and
 * {@link reread} gets the current state.
 *
 * @param invented is called where D1 was read and never had a connection with this id
 */
export async function remembered(rt: Runtime, id: string, invented: () => Promise<void>): Promise<Known> {
  const entry = known.get(id) ?? unknown.get(id)
  if (entry && Date.now() - entry.readAt < REMEMBER) return entry
  try {
    return await readAndRemember(rt, id, invented)
  } catch (error) {
    // While D1 is out, an old entry is good enough: recording, now or from the spool, checks what is live then.
    if (entry?.connection && error instanceof Fault && error.fault === 'database_unavailable') return entry
    throw error
  }
}

/**
 * The connection as D1 has it now.
 *
 * @param before the entry that may be out of date. If another request has replaced it, that one is returned.
 * @param every if `before` is younger than this (ms), it is returned without a read
 */
export async function reread(rt: Runtime, id: string, before: Known, every: number): Promise<Known> {
  const entry = known.get(id) ?? unknown.get(id)
  if (entry && entry !== before) return entry
  if (every > 0 && Date.now() - before.readAt < every) return before
  return readAndRemember(rt, id)
}

/**
 * Makes a change that lets a connection accept more, such as a new secret, good for the next delivery, wherever it
 * arrives. Answer the call that made the change after this.
 *
 * This isolate reads the connection again at the next delivery. Another may have read it just before the change, and
 * refuses from memory until that read is {@link REREAD_EVERY} old: so this waits for as long. A change that lets the
 * connection accept less needs none of this, because recording requires the version.
 */
export async function takeEffect(id: string): Promise<void> {
  const entry = known.get(id)
  if (entry) entry.readAt = 0
  await scheduler.wait(REREAD_EVERY)
}

async function readAndRemember(rt: Runtime, id: string, invented?: () => Promise<void>): Promise<Known> {
  const before = known.get(id)
  const readAt = Date.now()
  const [row] = await run(rt.db, findConnectionById(rt.db, { id }))
  const live = row?.deleted_at === null && !row.project_deleted ? row : undefined
  const entry: Known = { connection: live ? await decrypted(rt, live) : null, readAt }
  if (!row) await invented?.()
  // Requests that read at the same time share one entry, so that only one of them records the secret's use.
  const other = known.get(id)
  if (other && other !== before && isCurrent(other, live)) return other
  remember(id, entry)
  return entry
}

function remember(id: string, entry: Known): void {
  const [to, from] = entry.connection ? [known, unknown] : [unknown, known]
  from.delete(id)
  to.set(id, entry)
}

function isCurrent({ connection }: Known, row: Connection | undefined): boolean {
  return row ? connection !== null && connection.version >= row.version : connection === null
}

/** Decrypts the connection's secrets. It fails closed: a secret that cannot be decrypted verifies nothing. */
async function decrypted(rt: Runtime, row: Connection & { packed_from: number }): Promise<LiveConnection> {
  const { id, project_id, vendor, livemode, version, status, verification, packed_from } = row
  const secrets: LiveSecret[] = []
  for (const secret of row.secrets) {
    try {
      const text = await unseal(rt.settings.encryptionKeys, secret, sealContext(project_id, id, secret.id))
      secrets.push({ id: secret.id, text, usedAt: row.secrets_used[secret.id] ?? 0 })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      writeLog('error', 'secret_not_readable', { connection_id: id, secret_id: secret.id, error: reason })
    }
  }
  const unreadable = secrets.length < row.secrets.length
  return { id, project_id, vendor, livemode, version, status, verification, packed_from, secrets, unreadable }
}
