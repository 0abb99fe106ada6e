import { Hono } from 'hono'
import { shown, tagged } from '../consumers/answer'
import { countDevices } from '../consumers/devices'
import { customersOf } from '../consumers/links-store'
import { refToRead } from '../consumers/ref'
import { findConsumer, requireConsumer } from '../consumers/store'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { withCap } from './cap'

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
    responses: { 200: shown('The consumer.') },
    faults: ['not_found', 'consumer_merged'],
  }),
  async (c) => {
    const ref = refToRead(c.req.param('consumer'))
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const found = await read(c, {
      rows: findConsumer(db, project, ref),
      customers: customersOf(db, project, ref),
      devices: countDevices(db, project, ref),
    })
    const customers = found.customers.map(({ vendor, id, linked_by }) => ({ vendor, id, linked_by }))
    const consumer = tagged(c, requireConsumer(found.rows))
    const devices = found.devices[0] && (await withCap(db, project, ref, found.devices[0]))
    return answer(c, { ...consumer, customers, devices }, 200)
  },
)
