import { Hono } from 'hono'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { listMutes } from '../mutes/mutes'
import { listCauses } from './failures'
import { Failures, presentFailures } from './fields'

export const failureRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'listWebhookFailures',
    summary: 'List failed events by cause',
    description:
      'The newest failed events by connection and kind of error. To see or replay the events of a cause, pass its `connection_id` and `error_code` with `status=failed` to a search or a bulk replay. `error_code` cannot select events without a code.',
    tag: 'Billing webhooks',
    policy: { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true },
    responses: { 200: { description: 'The causes.', schema: Failures } },
  }),
  async (c) => {
    const { db, now } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { rows, mutes } = await read(c, {
      rows: listCauses(db, project),
      mutes: listMutes(db, project, { kind: 'failed' }, now),
    })
    return answer(c, presentFailures(rows, mutes, now), 200)
  },
)
