import { type Context, Hono } from 'hono'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { endSecret } from './end-secret'

const tag = 'API keys'

/** The secrets of a key besides its current one. */
export const keySecretRoutes = new Hono<HttpEnv>()
  .delete(
    '/:id/pending-secret',
    route({
      id: 'endPendingSecret',
      summary: 'End the secret that waits for its first use',
      description:
        'The secret that a rotation with `when: first_use` returned never becomes current. The current secret stays. If no secret waits, nothing changes. A key may always end its own.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, selfParam: 'id', ends: true },
      responses: { 204: { description: 'No secret waits.' } },
      faults: ['not_found', 'rotation_conflict'],
    }),
    async (c) => {
      await endOf(c, 'pending')
      return answer(c, null, 204)
    },
  )
  .delete(
    '/:id/previous-secret',
    route({
      id: 'endPreviousSecret',
      summary: 'End the previous secret',
      description:
        'The secret that a rotation replaced, and that still works, stops working immediately. If there is none, nothing changes. A key may always end its own.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, selfParam: 'id', ends: true },
      responses: { 204: { description: 'Only the current secret works, and one that waits for its first use.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await endOf(c, 'previous')
      return answer(c, null, 204)
    },
  )

function endOf(c: Context<HttpEnv>, which: 'pending' | 'previous') {
  const key = { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '', which }
  return endSecret(c.get('rt').db, key, changeOf(c))
}
