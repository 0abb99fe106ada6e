import { type Context, Hono } from 'hono'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { body } from '../http/validate'
import { findConnection } from '../inbox/connections/connection'
import { MuteBody, untilOf } from '../inbox/mutes/fields'
import { MAX_MUTES } from '../inbox/mutes/limits'
import { listMutes, muteCause, refusalCause, unmuteCause } from '../inbox/mutes/mutes'
import { requireFound } from '../lib/fault'
import { HOUR, MINUTE } from '../lib/time'
import { readRefusals } from './read'
import { presentRefusalMute, presentRefusals, REFUSAL_HOURS, RefusalMute, Refusals, withMutes } from './refusal-fields'

const tag = 'Billing connections'
const actors = ['session', 'api_key'] as const
const mayWrite = { actors, scope: 'connections:write', project: true } as const

/** What a connection refused, by cause, and which causes are muted. */
export const refusalRoutes = new Hono<HttpEnv>()
  .get(
    '/:id/refusals',
    route({
      id: 'listRefusals',
      summary: 'List refused deliveries by cause',
      description: `The deliveries that the connection refused in the last ${REFUSAL_HOURS} hours. Counts appear within ten seconds.`,
      tag,
      policy: { actors, scope: 'connections:read', project: true, reads: true },
      responses: { 200: { description: 'The causes.', schema: Refusals } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { db, now } = c.get('rt')
      const { project_id, connection_id } = placeIn(c)
      const to = Math.floor(now / MINUTE) + 1
      const { connections, refusals, mutes } = await read(c, {
        connections: findConnection(db, project_id, connection_id),
        refusals: readRefusals(db, project_id, { from: to - (REFUSAL_HOURS * HOUR) / MINUTE, to }, connection_id),
        mutes: listMutes(db, project_id, { kind: 'refused', connection_id }, now),
      })
      requireFound(connections, 'Connection')
      return answer(c, presentRefusals(withMutes(refusals, mutes)), 200)
    },
  )
  .put(
    '/:id/refusals/:code/mute',
    route({
      id: 'muteRefusals',
      summary: 'Mute refused deliveries with one cause',
      description: `Nobody is then told of these deliveries: *Needs attention* in the console does not list them, and they alone send no notice. They are still refused, counted and reported by health. Repeating the call changes nothing; another \`until\` replaces the earlier one. A project can mute ${MAX_MUTES} causes.`,
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The muted cause.', schema: RefusalMute } },
      faults: ['not_found', 'mute_limit_reached'],
    }),
    body(MuteBody),
    async (c) => {
      const { db, now } = c.get('rt')
      const until = untilOf(c.req.valid('json'), now)
      return answer(c, presentRefusalMute(await muteCause(db, causeIn(c), until, changeOf(c))), 200)
    },
  )
  .delete(
    '/:id/refusals/:code/mute',
    route({
      id: 'unmuteRefusals',
      summary: 'Unmute refused deliveries with one cause',
      description: 'Repeating the call changes nothing.',
      tag,
      policy: mayWrite,
      responses: { 204: { description: 'Not muted.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await unmuteCause(c.get('rt').db, causeIn(c), changeOf(c))
      return answer(c, null, 204)
    },
  )

function placeIn(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') ?? '' }
}

function causeIn(c: Context<HttpEnv>) {
  const { project_id, connection_id } = placeIn(c)
  return refusalCause(project_id, connection_id, c.req.param('code') ?? '')
}
