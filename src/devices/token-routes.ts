import { Hono } from 'hono'
import { answer } from '../http/answer'
import { changeOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { deviceIn } from './addressed'
import { endToken } from './end-token'

const tag = 'Devices'
const policy = {
  actors: ['session', 'api_key'],
  scope: 'consumers:write',
  project: true,
  ends: true,
} as const
const faults = ['not_found', 'consumer_merged', 'rotation_conflict'] as const

/** The tokens of a device besides its current one. */
export const deviceTokenRoutes = new Hono<HttpEnv>()
  .delete(
    '/:consumer/devices/:device/pending-token',
    route({
      id: 'endPendingToken',
      summary: 'End the token of a device that waits for its first use',
      description:
        'The token that a rotation with `when: first_use` returned never becomes valid. The current token does not change. If no token is waiting, nothing changes.',
      tag,
      policy,
      responses: { 204: { description: 'No token is waiting.' } },
      faults: [...faults],
    }),
    async (c) => {
      await endToken(c.get('rt').db, { ...deviceIn(c), which: 'pending' }, changeOf(c))
      return answer(c, null, 204)
    },
  )
  .delete(
    '/:consumer/devices/:device/previous-token',
    route({
      id: 'endPreviousToken',
      summary: 'End the previous token of a device',
      description:
        'A rotation can leave the replaced token valid for a while. This call ends that token immediately. If there is none, nothing changes.',
      tag,
      policy,
      responses: { 204: { description: 'The previous token is no longer valid.' } },
      faults: [...faults],
    }),
    async (c) => {
      await endToken(c.get('rt').db, { ...deviceIn(c), which: 'previous' }, changeOf(c))
      return answer(c, null, 204)
    },
  )
