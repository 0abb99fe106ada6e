import { Hono } from 'hono'
import { ConsumerShown, presentConsumer } from '../consumers/fields'
import { customersOf } from '../consumers/links'
import { findConsumer, requireConsumer } from '../consumers/read'
import { refToRead } from '../consumers/ref'
import { answer, tagged, taggedWith } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { countDevices, withCap } from './device-limit'

/**
 * One consumer: mounted beside the list. It is here because it shows how many devices the consumer can have, which a feature
 * may decide.
 */
export const consumerRoute = new Hono<HttpEnv>().get(
  '/:consumer',
  route({
    id: 'getConsumer',
    summary: 'Get a consumer',
    description: 'By its id, or by `ext:` and its external id.',
    tag: 'Consumers',
    policy: { actors: ['session', 'api_key'], scope: 'consumers:read', project: true, reads: true },
    responses: { 200: taggedWith(ConsumerShown, 'The consumer.') },
    faults: ['not_found', 'consumer_merged'],
  }),
  async (c) => {
    const ref = refToRead(c.req.param('consumer'))
    const { db, now } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const found = await read(c, {
      rows: findConsumer(db, project, ref),
      customers: customersOf(db, project, ref),
      devices: countDevices(db, { project_id: project, ref }, now),
    })
    const customers = found.customers.map(({ vendor, id, linked_by }) => ({ vendor, id, linked_by }))
    const consumer = requireConsumer(found.rows)
    const devices = found.devices[0] && (await withCap(db, project, ref, found.devices[0]))
    return answer(c, tagged(c, consumer, { ...presentConsumer(consumer), customers, devices }), 200)
  },
)
