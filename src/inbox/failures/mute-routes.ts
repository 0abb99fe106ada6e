import { type Context, Hono } from 'hono'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { body } from '../../http/validate'
import { MuteBody, untilOf } from '../mutes/fields'
import { MAX_MUTES } from '../mutes/limits'
import { muteCause, unmuteCause } from '../mutes/mutes'
import { FailureMute, presentMute } from './fields'
import { failureCause } from './mute'

const tag = 'Billing webhooks'
const policy = { actors: ['session', 'api_key'], scope: 'billing:write', project: true } as const

/** Muted causes of failures. */
export const muteRoutes = new Hono<HttpEnv>()
  .put(
    '/:connection_id/:error_code/mute',
    route({
      id: 'muteFailures',
      summary: 'Mute failed events with one cause',
      description: `Nobody is then told of these events: *Needs attention* in the console does not list the cause, it sends no notice, and the status of health does not depend on them. The events are still counted and listed. \`error_code\` is that of the cause, or \`none\` if it is null. Repeating the call changes nothing; another \`until\` replaces the earlier one. A project can mute ${MAX_MUTES} causes.`,
      tag,
      policy,
      responses: { 200: { description: 'The muted cause.', schema: FailureMute } },
      faults: ['not_found', 'mute_limit_reached'],
    }),
    body(MuteBody),
    async (c) => {
      const { db, now } = c.get('rt')
      const until = untilOf(c.req.valid('json'), now)
      return answer(c, presentMute(await muteCause(db, causeIn(c), until, changeOf(c))), 200)
    },
  )
  .delete(
    '/:connection_id/:error_code/mute',
    route({
      id: 'unmuteFailures',
      summary: 'Unmute failed events with one cause',
      description: 'Repeating the call changes nothing.',
      tag,
      policy,
      responses: { 204: { description: 'Not muted.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await unmuteCause(c.get('rt').db, causeIn(c), changeOf(c))
      return answer(c, null, 204)
    },
  )

function causeIn(c: Context<HttpEnv>) {
  const { connection_id = '', error_code = '' } = c.req.param()
  return failureCause(projectOf(c.get('actor')), connection_id, error_code)
}
