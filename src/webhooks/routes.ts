import { Hono } from 'hono/tiny'
import * as z from 'zod'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { timestamp } from '../http/fields'
import { cursorBinding, listOf, pageFields, readCursor, toPage } from '../http/page'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { Health, readHealth } from './health/health'
import { LagQuery, LagSeries, readLag } from './health/lag'
import { Attempt, BillingEvent, presentAttempt, presentEvent } from './present'
import { previewReplay, ReplayPreview } from './preview'
import { BulkReplay, BulkReplayBody, ReplayProgress, readReplay, requestBulkReplay, requestReplay } from './replay'
import { searchFields } from './search/filters'
import { pageOf, searchPage } from './search/page'
import { findEvent, listAttempts, listEvents, MAX_PAGE_BYTES } from './store'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const read = { actors, scope: 'billing:read', project: true } as const
const write = { actors, scope: 'billing:write', project: true } as const
const view = z
  .enum(['full', 'summary'])
  .default('full')
  .describe('`summary` leaves the payload out (`raw_payload_b64: null`).')

const dryRun = z.strictObject({ dry_run: z.enum(['true', 'false']).default('false') })

export const webhookRoutes = new Hono<HttpEnv>()
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
    '/search',
    route({
      id: 'searchWebhookEvents',
      summary: 'Search the billing webhook events',
      description:
        'All filters combine. A page looks at a bounded number of events: `truncated` says that it met the bound before it was full, and `next_cursor` goes on from there.',
      tag,
      policy: read,
      responses: {
        200: { description: 'A page of events.', schema: listOf(BillingEvent).extend({ truncated: z.boolean() }) },
      },
    }),
    query(z.strictObject({ ...pageFields, view, ...searchFields })),
    async (c) => {
      const { limit, cursor, view: asked, ...fields } = c.req.valid('query')
      const full = asked === 'full'
      const { data, ...page } = await searchPage(c.get('rt').db, projectOf(c.get('actor')), fields, {
        cursor,
        limit,
        full,
      })
      return c.json({ data: data.map((row) => presentEvent(row, full)), ...page }, 200)
    },
  )
  .get(
    '/health',
    route({
      id: 'getWebhookHealth',
      summary: "A snapshot of the pipeline's state",
      description: 'Cheap: counts are kept as rows, and open events have an index of their own.',
      tag,
      policy: read,
      responses: { 200: { description: 'The snapshot.', schema: Health } },
    }),
    async (c) => c.json(await readHealth(c.get('rt'), projectOf(c.get('actor'))), 200),
  )
  .get(
    '/lag-timeseries',
    route({
      id: 'getWebhookLag',
      summary: 'Lag from receipt to completion, over time',
      description:
        'By time of receipt, UTC, zero-filled. `pending` is shown because percentiles of the finished hide those still waiting. Percentiles are within 1 %. 404 for a connection that the project never had.',
      tag,
      policy: read,
      responses: { 200: { description: 'The series.', schema: LagSeries } },
      faults: ['not_found'],
    }),
    query(LagQuery),
    async (c) => {
      const rt = c.get('rt')
      return c.json(await readLag(rt.db, projectOf(c.get('actor')), c.req.valid('query'), rt.now), 200)
    },
  )
  .post(
    '/replay',
    route({
      id: 'replayWebhookEvents',
      summary: 'Process all events that a filter matches again',
      description:
        'At most 1,000, paced. Events that are open already are left to the run that is coming. `dry_run` in the query or in the body counts what matches, and changes nothing.',
      tag,
      policy: write,
      responses: { 202: { description: 'They will be processed.', schema: BulkReplay } },
    }),
    query(dryRun), // where a single replay has it
    body(BulkReplayBody),
    async (c) => {
      const asked = c.req.valid('json')
      const dry_run = asked.dry_run || c.req.valid('query').dry_run === 'true'
      const project = projectOf(c.get('actor'))
      return c.json(await requestBulkReplay(c.get('rt'), project, { ...asked, dry_run }, changeOf(c)), 202)
    },
  )
  .get(
    '/replays/:replay_id',
    route({
      id: 'getWebhookReplay',
      summary: 'How far a replay has come',
      tag,
      policy: read,
      responses: { 200: { description: 'Its progress.', schema: ReplayProgress } },
      faults: ['not_found'],
    }),
    async (c) => {
      const progress = await readReplay(c.get('rt').db, projectOf(c.get('actor')), c.req.param('replay_id'))
      if (!progress) throw new Fault('not_found', 'No replay of this project has this id.')
      return c.json(progress, 200)
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
  .post(
    '/:event_id/replay',
    route({
      id: 'replayWebhookEvent',
      summary: 'Process an event again',
      description:
        'Safe at any time: processing is idempotent. An event that is open already has a run coming: that run is the answer (`deduplicated`).',
      tag,
      policy: write,
      responses: {
        200: { description: 'With `dry_run=true`: what it would do. Nothing was written.', schema: ReplayPreview },
        202: {
          description: 'It will be processed.',
          schema: z.object({
            replay: z.object({
              id: z.string().nullable().describe('Null where the run that is coming is no replay.'),
              event_id: z.string(),
              requested_at: timestamp,
              deduplicated: z.boolean(),
            }),
            event: BillingEvent,
          }),
        },
      },
      faults: ['not_found', 'payload_gone'],
    }),
    query(dryRun),
    async (c) => {
      const rt = c.get('rt')
      const project = projectOf(c.get('actor'))
      const id = c.req.param('event_id')
      if (c.req.valid('query').dry_run === 'true') {
        const preview = await previewReplay(rt.db, project, id)
        if (!preview) throw notFound()
        return c.json(preview, 200)
      }
      const replayed = await requestReplay(rt, project, id, changeOf(c))
      const row = replayed && (await findEvent(rt.db, project, id))
      if (!replayed || !row) throw notFound()
      const replay = {
        id: replayed.replay_id,
        event_id: id,
        requested_at: iso(rt.now),
        deduplicated: !replayed.opened,
      }
      return c.json({ replay, event: presentEvent(row, false) }, 202)
    },
  )

function notFound(): Fault {
  return new Fault('not_found', 'No event of this project has this id.')
}
