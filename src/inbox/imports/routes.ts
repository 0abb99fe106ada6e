import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { requireFound } from '../../lib/fault'
import { DAY } from '../../lib/time'
import { findConnection } from '../connections/connection'
import { ImportShown, presentImport, StartBody } from './fields'
import { CONTINUED_WITHIN_MS } from './limits'
import { findRun, listRuns } from './runs'
import { cancelImport, startImport } from './start'

const tag = 'Billing connections'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'connections:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'connections:write', project: true } as const

export const importRoutes = new Hono<HttpEnv>()
  .post(
    '/:id/imports',
    route({
      id: 'startImport',
      summary: "Import what is in the vendor's account",
      description: `Reads customers, subscriptions and invoices from the vendor's API with the API key of the connection, and records what is new. It reads a page of up to 100 objects, then waits a second. A connection runs one import at a time. If its last one failed or was canceled in the past ${CONTINUED_WITHIN_MS / DAY} days, the new one continues from there. An import of a paused connection cannot be started. One that is already running continues, and what it records is held.`,
      tag,
      policy: { ...mayWrite, costly: true },
      responses: { 202: { description: 'The import that was started.', schema: ImportShown } },
      faults: ['not_found', 'api_key_missing', 'import_running', 'connection_paused'],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 202),
    }),
    body(StartBody),
    async (c) => {
      const row = await startImport(c.get('rt'), connectionOf(c), c.req.valid('json'), changeOf(c))
      return answer(c, presentImport(row), 202)
    },
  )
  .get(
    '/:id/imports',
    route({
      id: 'listImports',
      summary: 'List the imports of a connection',
      description: 'Newest first.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of imports.', schema: listOf(ImportShown) } },
      faults: ['not_found'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const of = connectionOf(c)
      const list = paging(`connections/${of.connection_id}/imports`, c.req.valid('query'))
      const { db } = c.get('rt')
      const { connection, rows } = await read(c, {
        connection: findConnection(db, of.project_id, of.connection_id),
        rows: listRuns(db, of, list.before, list.take),
      })
      requireFound(connection, 'Connection')
      return answer(c, list.page(rows, presentImport), 200)
    },
  )
  .get(
    '/:id/imports/:import_id',
    route({
      id: 'getImport',
      summary: 'Read the progress of an import',
      description: 'It ends as `done`, `canceled` or `failed`.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The import.', schema: ImportShown } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, await shown(c, c.req.param('import_id')), 200),
  )
  .post(
    '/:id/imports/:import_id/cancel',
    route({
      id: 'cancelImport',
      summary: 'Cancel an import',
      description: 'What it has recorded stays. Canceling an import that has ended changes nothing.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 200: { description: 'The import.', schema: ImportShown } },
      faults: ['not_found'],
    }),
    async (c) => {
      const key = { ...connectionOf(c), id: c.req.param('import_id') }
      return answer(c, presentImport(await cancelImport(c.get('rt').db, key, changeOf(c))), 200)
    },
  )

function connectionOf(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') ?? '' }
}

async function shown(c: Context<HttpEnv>, id: string) {
  const { rows } = await read(c, { rows: findRun(c.get('rt').db, { ...connectionOf(c), id }) })
  return presentImport(requireFound(rows, 'Import'))
}
