/*
 * The Worker that the backup scripts run on this machine, beside a local database or one of a deployment. It is never deployed:
 * nothing in a deployment can overwrite a database.
 */
import { backupStep, type Manifest, manifestOf, newStanding, type Standing, WHOLE } from '../../../src/backup/backup'
import type { Listed } from '../../../src/backup/object'
import { requirePacked } from '../../../src/backup/packing'
import { scopeOf } from '../../../src/backup/project'
import { beginRestore, endRestore, type Restore, restoreNext } from '../../../src/backup/restore'
import { readTables, type Table } from '../../../src/backup/tables'
import { type Db, openDb } from '../../../src/db/client'

type Bindings = { DB: D1Database; TOKEN: string }

/** What a step of a backup answers, in the header `X-Step`. Its body is the object. */
export type StepAnswer = { standing: Standing; isDone: boolean; listed: Listed | null }
/** What is left of a restore. */
export type RestoreAnswer = { left: readonly Listed[] }
export type EndOfBackup = { standing: Standing; store: number; project_id: string | null; objects: Listed[] }

let tables: Promise<Table[]> | undefined
let restore: Restore | undefined

export default {
  async fetch(request, { DB, TOKEN }) {
    if (request.headers.get('Authorization') !== `Bearer ${TOKEN}`) return new Response('', { status: 401 })
    try {
      return await answer(request, openDb<Db>(DB))
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 })
    }
  },
} satisfies ExportedHandler<Bindings>

async function answer(request: Request, db: Db): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/ready') return new Response('')
  if (pathname === '/backup/step') {
    const { standing, project_id } = await request.json<{ standing: Standing | null; project_id: string | null }>()
    if (standing === null) await requirePacked(db, Date.now())
    tables ??= readTables(db)
    const scope = project_id === null ? WHOLE : scopeOf(project_id)
    const { object, ...step } = await backupStep(db, await tables, scope, standing ?? newStanding(Date.now()))
    const told: StepAnswer = { ...step, listed: object?.listed ?? null }
    return new Response(object?.bytes ?? null, { headers: { 'X-Step': JSON.stringify(told) } })
  }
  if (pathname === '/backup/end') {
    const { standing, ...what } = await request.json<EndOfBackup>()
    return Response.json(manifestOf(standing, { ...what, now: Date.now() }) satisfies Manifest)
  }
  if (pathname === '/restore/begin') {
    restore = await beginRestore(db, await request.json<Manifest>())
    return Response.json({ left: restore.left } satisfies RestoreAnswer)
  }
  if (restore === undefined) throw new Error('no restore has begun')
  if (pathname === '/restore/object') {
    restore = await restoreNext(db, restore, new Uint8Array(await request.arrayBuffer()))
    return Response.json({})
  }
  return Response.json(await endRestore(db, restore, Date.now()))
}
