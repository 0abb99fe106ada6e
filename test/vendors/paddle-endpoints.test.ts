import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { expect, it } from 'vitest'
import types from '../../node_modules/@paddle/paddle-node-sdk/dist/types/notifications/helpers/types.d.ts?raw'
import { paddle } from '../../src/vendors/paddle'
import { paddleEndpoints } from '../../src/vendors/paddle-endpoints'
import { newPaddleAccount, seenBy } from '../harness'

/** The types of events that Paddle's own SDK knows. */
const TYPES = [...new Set([...types.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map(([, type = '']) => type))]

function isRead(event_type: string): boolean {
  // An adjustment is one of a transaction.
  const data = event_type.startsWith('adjustment.')
    ? { action: 'refund', transaction_id: 'txn_1', status: 'approved' }
    : {}
  const event = { event_id: 'evt_1', event_type, occurred_at: '2026-11-01T00:00:00Z', data: { ...data, id: 'x_1' } }
  return paddle.decode(JSON.stringify(event), {})[0]?.state !== null
}

it('the types of events that are chosen are exactly those that the service reads', () => {
  expect(TYPES.length).toBeGreaterThan(40)
  expect([...paddleEndpoints.needed, ...paddleEndpoints.useful].sort()).toEqual(TYPES.filter(isRead).sort())
})

it("asks as Paddle's own SDK does", async () => {
  const wanted = {
    livemode: true,
    name: null,
    secret: null,
    url: 'https://api.example.com/ingest/con_1',
    events: ['customer.updated'],
    mark: { connection: 'con_1', secret: 'sec_1' },
  }
  const key = await newPaddleAccount({ writes: true })
  const { notificationSettings } = new Paddle(key, { environment: Environment.production })
  const own = {
    description: 'Platform API (con_1 sec_1)',
    destination: wanted.url,
    subscribedEvents: ['customer.updated' as never],
    trafficSource: 'all' as const,
  }
  const made = await notificationSettings.create({ type: 'url', ...own })
  await notificationSettings.update(made.id, { active: true, ...own })
  await notificationSettings.list()
  await notificationSettings.delete(made.id)
  const requests = (await seenBy(key)).map(({ method, url, body }) => [method, new URL(url).pathname, jsonOf(body)])
  const ours = [
    paddleEndpoints.create(wanted),
    paddleEndpoints.change(made.id, wanted),
    paddleEndpoints.remove(made.id),
  ]
  const [create, change, list, remove] = requests
  expect([create, change, remove]).toEqual(
    ours.map(({ method, pattern, body }) => [method, pattern.replace('{id}', made.id), jsonOf(body?.text ?? '')]),
  )
  expect(list).toEqual(['GET', paddleEndpoints.list.pattern, null])
})

function jsonOf(text: string): unknown {
  return text === '' ? null : JSON.parse(text)
}
