import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { flagOrFalse } from '../../http/fields'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { notFound, requireFound } from '../../lib/fault'
import { iso } from '../../lib/time'
import { findEvent } from '../events/events'
import { presentEvent } from '../events/present'
import { MAX_REPLAYED, MAX_REPLAYED_A_DAY, REPLAYED_PER_SECOND } from './limits'
import {
  BulkReplay,
  BulkReplayBody,
  presentPreview,
  presentReplay,
  Replayed,
  ReplayPreview,
  ReplayProgress,
} from './present'
import { previewReplay } from './preview'
import { requestBulkReplay, requestReplay } from './replay'
import { findReplay, listReplays, type ReplayRow } from './replays'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const policy = { actors, scope: 'billing:write', project: true } as const

const dryRun = z.strictObject({ dry_run: flagOrFalse.describe('Whether to change nothing.') })

export const replayRoutes = new Hono<HttpEnv>()
  .post(
    '/replay',
    route({
      id: 'replayWebhookEvents',
      summary: 'Replay all events that match a filter',
      description: `At most ${MAX_REPLAYED.toLocaleString('en')} in one call, at ${REPLAYED_PER_SECOND} per second; \`next_cursor\` continues once these are done: at most one bulk replay of a project runs at a time, and they reopen about ${MAX_REPLAYED_A_DAY.toLocaleString('en')} events in a day (UTC). Events that are already open are left to their own run, and events of paused connections are left out. \`dry_run\`, in the query or the body, counts the matching events and changes nothing.`,
      tag,
      policy: { ...policy, costly: true },
      responses: {
        200: { description: 'With `dry_run`: what the replay would do. Nothing was written.', schema: BulkReplay },
        202: { description: 'The events will be processed again.', schema: BulkReplay },
      },
      faults: ['invalid_cursor', 'replay_running'],
      repeated: async (c, { object_id }) => {
        const { id: replay_id, matched, queued, next_cursor } = await readReplay(c, object_id)
        const has_more = next_cursor !== null
        return answer(c, { replay_id, matched: matched ?? queued, queued, has_more, next_cursor }, 202)
      },
    }),
    query(dryRun), // accepted here because the replay of one event takes it here
    body(BulkReplayBody),
    async (c) => {
      const asked = c.req.valid('json')
      const dry_run = asked.dry_run || c.req.valid('query').dry_run
      const project = projectOf(c.get('actor'))
      const replay = await requestBulkReplay(c.get('rt'), project, { ...asked, dry_run }, changeOf(c))
      return answer(c, replay, dry_run ? 200 : 202)
    },
  )
  .get(
    '/replays',
    route({
      id: 'listWebhookReplays',
      summary: 'List replays',
      description: 'Replays of one event and of many, newest first.',
      tag,
      policy: { actors, scope: 'billing:read', project: true, reads: true },
      responses: { 200: { description: 'A page of replays.', schema: listOf(ReplayProgress) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const list = paging<ReplayRow>('webhooks/replays', c.req.valid('query'))
      const { rows } = await read(c, { rows: listReplays(c.get('rt').db, projectOf(c.get('actor')), list) })
      return answer(c, list.page(rows, presentReplay), 200)
    },
  )
  .get(
    '/replays/:replay_id',
    route({
      id: 'getWebhookReplay',
      summary: 'Get the progress of a replay',
      description: 'Counts the events that it reopened by how they ended.',
      tag,
      policy: { actors, scope: 'billing:read', project: true, reads: true },
      responses: { 200: { description: 'The progress.', schema: ReplayProgress } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, presentReplay(await readReplay(c, c.req.param('replay_id'))), 200),
  )
  .post(
    '/:event_id/replay',
    route({
      id: 'replayWebhookEvent',
      summary: 'Replay an event',
      description:
        'Safe at any time, because processing is idempotent. If the event is already open, the response has the pending run (`deduplicated`). An archived event leaves the archive. An event of a paused connection cannot be replayed.',
      tag,
      policy,
      responses: {
        200: {
          description: 'With `dry_run=true`: what the replay would do. Nothing was written.',
          schema: ReplayPreview,
        },
        202: { description: 'The event will be processed again.', schema: Replayed },
      },
      faults: ['not_found', 'payload_gone', 'connection_paused', 'delivered_again'],
      repeated: async (c, { object_id: id, at }) => {
        const event_id = c.req.param('event_id') ?? ''
        const found = findEvent(c.get('rt').db, projectOf(c.get('actor')), 'summary', event_id)
        const event = requireFound((await read(c, { found })).found, 'Event')
        const replay = { id, event_id, requested_at: iso(at), deduplicated: false }
        return answer(c, { replay, event: presentEvent(event) }, 202)
      },
    }),
    query(dryRun),
    async (c) => {
      const rt = c.get('rt')
      const project = projectOf(c.get('actor'))
      const event_id = c.req.param('event_id')
      if (c.req.valid('query').dry_run) {
        const preview = await previewReplay(rt, project, event_id)
        if (!preview) throw notFound('Event')
        return answer(c, presentPreview(preview), 200)
      }
      const replayed = await requestReplay(rt, project, event_id, changeOf(c))
      if (!replayed) throw notFound('Event')
      const { opened, event } = replayed
      const replay = { id: event.replay_id, event_id, requested_at: iso(rt.now), deduplicated: !opened }
      return answer(c, { replay, event: presentEvent(event) }, 202)
    },
  )

async function readReplay(c: Context<HttpEnv>, id: string) {
  const { rows } = await read(c, { rows: findReplay(c.get('rt').db, projectOf(c.get('actor')), id) })
  return requireFound(rows, 'Replay')
}
