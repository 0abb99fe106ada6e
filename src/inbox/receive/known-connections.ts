import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { Fault } from '../../lib/fault'
import { MINUTE, SECOND } from '../../lib/time'
import { sealContext, unseal } from '../connections/seal'
import { type Connection, findConnectionById } from '../connections/store'

/** A connection as ingest needs it: its live secrets opened, in this isolate's memory alone. */
export type LiveConnection = Pick<Connection, 'id' | 'project_id' | 'vendor' | 'version' | 'status'> & {
  secrets: { id: string; text: string; usedAt: number }[]
}
/** What this isolate remembers of an id; null where no connection has it. */
export type Known = { connection: LiveConnection | null; readAt: number }

const REMEMBER = MINUTE
/** An id nobody has is remembered more briefly: its connection may be made the next second. */
const REMEMBER_UNKNOWN = 10 * SECOND
/** A refused delivery has the connection read again, at most this often: junk costs one read a second and no more. */
const REREAD_EVERY = SECOND
const MAX_KNOWN = 5_000

const known = new Map<string, Known>()

/**
 * A connection by id, from this isolate's memory or from D1. What is remembered may be old by a minute: the insert
 * carries the version, and `fresh` asks for what the database says now, at most once a second.
 */
export async function lookUp(rt: Runtime, id: string, fresh: boolean): Promise<Known> {
  const remembered = known.get(id)
  const age = remembered ? rt.now - remembered.readAt : Number.POSITIVE_INFINITY
  const bound = fresh ? REREAD_EVERY : remembered?.connection ? REMEMBER : REMEMBER_UNKNOWN
  if (remembered && age < bound) return remembered
  const row = await read(rt, id, fresh ? null : remembered)
  if (row === 'remembered') return remembered as Known
  const entry: Known = { connection: row && (await opened(rt, row)), readAt: rt.now }
  // Of requests that came at once each has read it; they go on with one entry, so that one notes the secret's use.
  const others = known.get(id)
  if (others && others !== remembered && others.connection?.version === row?.version) return others
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(id, entry)
  return entry
}

/** Reads the connection; while D1 is out, what is remembered has to do: whatever is recorded is fenced again. */
async function read(rt: Runtime, id: string, remembered: Known | null | undefined) {
  try {
    return (await run(rt.db, findConnectionById(rt.db, id)))[0] ?? null
  } catch (error) {
    if (remembered?.connection && error instanceof Fault && error.fault === 'database_unavailable') return 'remembered'
    throw error
  }
}

/** Forgets a connection that the database says has changed. */
export function forget(id: string): void {
  known.delete(id)
}

/** The connection with its secrets opened. One that does not open fails closed: it verifies nothing. */
async function opened(rt: Runtime, row: Connection): Promise<LiveConnection> {
  const { id, project_id, vendor, version, status } = row
  const secrets: LiveConnection['secrets'] = []
  for (const secret of row.secrets) {
    try {
      const text = await unseal(rt.settings.encryptionKeys, secret, sealContext(project_id, id, secret.id))
      secrets.push({ id: secret.id, text, usedAt: row.secrets_used[secret.id] ?? 0 })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      writeLog('error', 'secret_not_readable', { connection_id: id, secret_id: secret.id, error: reason })
    }
  }
  return { id, project_id, vendor, version, status, secrets }
}
