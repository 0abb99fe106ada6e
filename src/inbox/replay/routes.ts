import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../../db/client'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { timestamp } from '../../http/fields'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { Fault } from '../../lib/fault'
import { iso } from '../../lib/time'
import { BillingEvent, presentEvent } from '../events/present'
import { eventNotFound, findEvent } from '../events/store'
import { previewReplay, ReplayPreview } from './preview'
import { BulkReplay, BulkReplayBody, ReplayProgress, readReplay, requestBulkReplay, requestReplay } from './replay'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const read = { actors, scope: 'billing:read', project: true } as const
const write = { actors, scope: 'billing:write', project: true } as const

const dryRun = z.strictObject({ dry_run: z.enum(['true', 'false']).default('false') })

export const replayRoutes = new Hono<HttpEnv>()
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
        if (!preview) throw eventNotFound()
        return c.json(preview, 200)
      }
      const replayed = await requestReplay(rt, project, id, changeOf(c))
      const [row] = replayed ? await run(rt.db, findEvent(rt.db, project, 'summary', id)) : []
      if (!replayed || !row) throw eventNotFound()
      const replay = {
        id: replayed.replay_id,
        event_id: id,
        requested_at: iso(rt.now),
        deduplicated: !replayed.opened,
      }
      return c.json({ replay, event: presentEvent(row) }, 202)
    },
  )
