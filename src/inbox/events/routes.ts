import { Hono } from 'hono'
import * as z from 'zod'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { cursorBinding, listOf, pageFields, readCursor, toPage } from '../../http/page'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { Fault } from '../../lib/fault'
import { pageOf } from '../search/page'
import { Attempt, BillingEvent, presentAttempt, presentEvent, view } from './present'
import { findEvent, listAttempts, listEvents, MAX_PAGE_BYTES } from './store'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const read = { actors, scope: 'billing:read', project: true } as const

export const eventRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listWebhookEvents',
      summary: 'Recent billing webhook events',
      description: `Newest first. A page stops early, with has_more, before its payloads pass ${MAX_PAGE_BYTES} bytes.`,
      tag,
      policy: read,
      responses: { 200: { description: 'A page of events.', schema: listOf(BillingEvent) } },
    }),
    query(z.strictObject({ ...pageFields, view })),
    async (c) => {
      const filters = c.req.valid('query')
      const { limit, cursor } = filters
      const binding = cursorBinding('webhooks', filters)
      const full = filters.view === 'full'
      const before = readCursor(binding, cursor)
      const rows = await listEvents(c.get('rt').db, projectOf(c.get('actor')), before, limit + 1, full)
      const { data, ...page } = pageOf(rows, limit, binding)
      return c.json({ data: data.map((row) => presentEvent(row, full)), ...page }, 200)
    },
  )
  .get(
    '/:event_id',
    route({
      id: 'getWebhookEvent',
      summary: 'One event, with its payload',
      tag,
      policy: read,
      responses: { 200: { description: 'The event.', schema: BillingEvent } },
      faults: ['not_found'],
    }),
    async (c) => {
      const row = await findEvent(c.get('rt').db, projectOf(c.get('actor')), c.req.param('event_id'))
      if (!row) throw notFound()
      return c.json(presentEvent(row, true), 200)
    },
  )
  .get(
    '/:event_id/attempts',
    route({
      id: 'listWebhookEventAttempts',
      summary: 'Every try at processing an event',
      description: 'First one first.',
      tag,
      policy: read,
      responses: { 200: { description: 'A page of attempts.', schema: listOf(Attempt) } },
      faults: ['not_found'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const id = c.req.param('event_id')
      const { limit, cursor } = c.req.valid('query')
      const binding = cursorBinding(`attempts:${id}`)
      const rows = await listAttempts(db, project, id, Number(readCursor(binding, cursor) ?? 0), limit + 1)
      if (rows.length === 0 && !(await findEvent(db, project, id))) throw notFound()
      return c.json(
        toPage(rows, limit, binding, (row) => String(row.number), presentAttempt),
        200,
      )
    },
  )

function notFound(): Fault {
  return new Fault('not_found', 'No event of this project has this id.')
}
