/*
 * The Worker of the drill: the product's own code beside two databases, and a door by which the drill says what to do. Processing,
 * recording, the backup and the restore are those of a deployment.
 */
import { backupStep, type Manifest, manifestOf, newStanding, type Standing, WHOLE } from '../../../src/backup/backup'
import type { Listed } from '../../../src/backup/object'
import { beginRestore, endRestore, type Restore, restoreNext } from '../../../src/backup/restore'
import { readTables, type Table } from '../../../src/backup/tables'
import { type Db, openDb } from '../../../src/db/client'
import { type Env, openRuntime } from '../../../src/env'
import { handleBatch } from '../../../src/inbox/process/queue'
import { recordDeliveries } from '../../../src/inbox/receive/insert'
import type { Recording } from '../../../src/inbox/receive/recording'
import { sha256Hex } from '../../../src/lib/crypto'

export type Which = 'DB' | 'RESTORED'
export type Slowest = { ms: number; sql: string }
type Bindings = Env & { RESTORED: D1Database }
type Asked = {
  which: Which
  recordings: Recording[]
  limit: number
  standing: Standing | null
  objects: Listed[]
  manifest: Manifest
  instead: Record<string, string | null>
}

const slowest: Slowest = { ms: 0, sql: '' }
let tables: Promise<Table[]> | undefined
let restore: Restore | undefined

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    const bytes = new Uint8Array(await request.arrayBuffer())
    const asked = (pathname === '/object' ? {} : JSON.parse(new TextDecoder().decode(bytes) || '{}')) as Asked
    try {
      return await answers[pathname as keyof typeof answers](asked, env, { ctx, bytes })
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 })
    }
  },
} satisfies ExportedHandler<Bindings>

type More = { ctx: ExecutionContext; bytes: Uint8Array<ArrayBuffer> }

const answers = {
  '/record': async ({ which, recordings }: Asked, env: Bindings) => {
    await recordDeliveries(openDb<Db>(env[which]), recordings)
    return Response.json({})
  },
  '/process': async ({ which, limit }: Asked, env: Bindings, { ctx }: More) => {
    const open = 'SELECT project_id, id AS event_id FROM events WHERE due_at IS NOT NULL LIMIT ?'
    const { results } = await env[which].prepare(open).bind(limit).all()
    const messages = results.map((body, i) => ({
      ...{ id: String(i), timestamp: new Date(), attempts: 1, body },
      ...{ ack: () => {}, retry: () => {} },
    }))
    const queue = { send: async () => {}, sendBatch: async () => {} } as unknown as Queue
    const rt = openRuntime({ ...env, DB: env[which], EVENTS: queue }, ctx)
    if (messages.length > 0) await handleBatch(rt, { queue: 'platform-api-events', messages } as never)
    return Response.json({ done: messages.length })
  },
  '/step': async ({ standing }: Asked, env: Bindings) => {
    const db = openDb<Db>(timed(env.DB))
    tables ??= readTables(db)
    const { object, ...step } = await backupStep(db, await tables, WHOLE, standing ?? newStanding(Date.now()))
    const told = JSON.stringify({ ...step, listed: object?.listed ?? null })
    return new Response(object?.bytes ?? null, { headers: { 'X-Step': told } })
  },
  '/manifest': async ({ standing, objects }: Asked) =>
    Response.json(manifestOf(standing as Standing, { store: 0, project_id: null, objects, now: Date.now() })),
  '/begin': async ({ manifest }: Asked, env: Bindings) => {
    restore = await beginRestore(openDb<Db>(timed(env.RESTORED)), manifest)
    return Response.json({ left: restore.left })
  },
  '/object': async (_: Asked, env: Bindings, { bytes }: More) => {
    restore = await restoreNext(openDb<Db>(timed(env.RESTORED)), restore as Restore, bytes)
    return Response.json({})
  },
  '/end': async (_: Asked, env: Bindings) =>
    Response.json(await endRestore(openDb<Db>(timed(env.RESTORED)), restore as Restore, Date.now())),
  '/slowest': async () => {
    const told = { ...slowest }
    slowest.ms = 0
    return Response.json(told)
  },
  '/digests': async ({ which, instead }: Asked, env: Bindings) => {
    const digests: Record<string, string> = {}
    for (const table of await readTables(openDb<Db>(env[which]))) {
      digests[table.name] = await digestOf(env[which], table, instead)
    }
    return Response.json(digests)
  },
}

const CHUNK = 2000

/** The number of rows and a digest of them. `instead`: what is read in place of a column; null: nothing. */
async function digestOf(
  database: D1Database,
  { name, columns, key }: Table,
  instead: Asked['instead'],
): Promise<string> {
  const read = columns.flatMap(({ name: column }) => {
    const at = `${name}.${column}`
    return at in instead ? (instead[at] ?? []) : [`"${column}"`]
  })
  const keys = key.join()
  let [digest, rows, after] = ['', 0, '']
  for (;;) {
    const from = after === '' ? '' : `WHERE (${keys}) > (${key.map((_, i) => `?1 ->> '$[${i}]'`).join()})`
    const query = `SELECT json_array(${keys}) AS k, ${read.map((one, i) => `hex(${one}) AS c${i}`).join()} FROM "${name}" ${from} ORDER BY ${keys} LIMIT ${CHUNK}`
    const { results } = await (after === '' ? database.prepare(query) : database.prepare(query).bind(after)).all<{
      k: string
    }>()
    digest = await sha256Hex(digest + JSON.stringify(results))
    rows += results.length
    after = results.at(-1)?.k ?? ''
    if (results.length < CHUNK) return `${rows} ${digest.slice(0, 16)}`
  }
}

/** A database whose slowest statement is noted, in D1's own figures. */
function timed(database: D1Database): D1Database {
  const note = (sql: string, { meta }: D1Result) => {
    if (meta.duration > slowest.ms) Object.assign(slowest, { ms: meta.duration, sql: sql.slice(0, 160) })
  }
  const wrap = (sql: string, inner: D1PreparedStatement): D1PreparedStatement =>
    ({
      inner,
      sql,
      bind: (...values: unknown[]) => wrap(sql, inner.bind(...values)),
      all: async () => {
        const result = await inner.all()
        note(sql, result)
        return result
      },
    }) as unknown as D1PreparedStatement
  return {
    prepare: (sql: string) => wrap(sql, database.prepare(sql)),
    batch: async (statements: { inner: D1PreparedStatement; sql: string }[]) => {
      const results = await database.batch(statements.map(({ inner }) => inner))
      for (const [i, result] of results.entries()) note(statements[i]?.sql ?? '', result)
      return results
    },
  } as unknown as D1Database
}
