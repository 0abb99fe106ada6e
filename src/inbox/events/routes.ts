import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { notFound } from '../../lib/fault'
import { beyond, newestArchived } from '../archive/age'
import { findArchived, withArchive } from '../archive/find'
import { type AttemptRow, listAttempts } from '../attempts'
import { answerEvent, answerPage } from './answer'
import { type EventRow, eventExists, findEvent, fitting, listEvents, type View } from './events'
import { MAX_PAGE_BYTES } from './limits'
import { Attempt, Beyond, BillingEvent, presentAttempt, presentEvent, view } from './present'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const policy = { actors, scope: 'billing:read', project: true, reads: true } as const

export const eventRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listWebhookEvents',
      summary: 'List billing webhook events',
      description: `Newest first. A page ends early, with \`has_more\`, before its payloads exceed ${MAX_PAGE_BYTES} bytes.`,
      tag,
      policy,
      responses: { 200: { description: 'A page of events.', schema: listOf(BillingEvent, Beyond) } },
    }),
    query(z.strictObject({ ...pageFields, view })),
    async (c) => {
      const asked = c.req.valid('query')
      const list = paging('webhooks', asked)
      const position = { before: list.before, limit: list.take }
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      let more = beyond([])
      const page = {
        view: asked.view,
        read: async (view: View) => {
          const found = await read(c, {
            rows: listEvents(db, project, view, position),
            newest: newestArchived(db, project),
          })
          more = beyond(found.newest)
          return found.rows
        },
        pageOf: (rows: EventRow[]) => list.page(rows, (row) => row, fitting(rows)),
      }
      return answerPage(c, page, (page) => answer(c, { ...page, ...more }, 200))
    },
  )
  .get(
    '/:event_id',
    route({
      id: 'getWebhookEvent',
      summary: 'Get an event with its payload',
      description:
        'The payload is kept for its retention period; after that, or if its consumer is erased, `raw_payload_b64` is null.',
      tag,
      policy,
      responses: { 200: { description: 'The event.', schema: BillingEvent } },
      faults: ['not_found'],
    }),
    query(z.strictObject({ view })),
    async (c) => {
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const id = c.req.param('event_id')
      const event = (view: View) =>
        withArchive(
          db,
          project,
          id,
          async (reader) => (await read(c, { event: findEvent(reader, project, view, id) })).event,
        )
      const shown = (row: EventRow | undefined) => {
        if (!row) throw notFound('Event')
        return answer(c, presentEvent(row), 200)
      }
      if (c.req.valid('query').view === 'summary') return shown((await event('summary'))[0])
      return answerEvent(c, event, shown)
    },
  )
  .get(
    '/:event_id/attempts',
    route({
      id: 'listWebhookEventAttempts',
      summary: 'List the attempts at processing an event',
      description: 'Oldest first.',
      tag,
      policy,
      responses: { 200: { description: 'A page of attempts.', schema: listOf(Attempt) } },
      faults: ['not_found'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const id = c.req.param('event_id')
      const list = paging(`attempts:${id}`, c.req.valid('query'), ({ number }: AttemptRow) => String(number))
      const { event, rows } = await read(c, {
        event: eventExists(db, project, id),
        rows: listAttempts(db, project, id, { after: Number(list.before ?? 0), order: 'asc', limit: list.take }),
      })
      if (event.length > 0) return answer(c, list.page(rows, presentAttempt), 200)
      const archived = await findArchived(db, project, id)
      if (!archived) throw notFound('Event')
      const later = archived.record.runs.filter(({ number }) => number > Number(list.before ?? 0))
      return answer(c, list.page(later, presentAttempt), 200)
    },
  )
