import { beforeEach, describe, expect, it } from 'vitest'
import { captureConsole, changeAccount, newStripeKey, storedText } from '../../harness'
import type { Item } from '../../outside/account'
import { cron, LOST, stopClock, tamperedD1 } from '../pipeline'
import { type EndpointWorld, endpointAt, endpointWorld } from './world'

/*
 * A set-up that ends in between, several at once, and where the key that may write must not be.
 */

beforeEach(() => {
  stopClock()
})

/** A database that is lost when the secret is to be stored. */
const losesSecret = () =>
  tamperedD1(async ({ sql, run }) => {
    if (/^update "connections" set "version" = .*"secrets" = /.test(sql)) throw new Error(LOST)
    return run()
  })

/** A set-up that ends between making the endpoint and storing its secret: nothing that it would do later is done. */
async function killed({ writeKey, setUp }: EndpointWorld): Promise<number> {
  await changeAccount(writeKey, { fail: { status: 500, method: 'DELETE' } })
  const { status } = await setUp({}, { bindings: { DB: losesSecret() } })
  await changeAccount(writeKey, { fail: { status: 500, path: '/nowhere' } })
  return status
}

async function requireOne(world: EndpointWorld): Promise<void> {
  const endpoints = (await world.endpoints()) as [Item]
  expect(endpoints).toHaveLength(1)
  expect(await world.deliverFrom(endpoints[0])).toBe(200)
}

describe('a set-up that was killed between creating and storing', () => {
  it.each([1, 3])('%i times: the next one leaves exactly one endpoint, whose secret verifies', async (times) => {
    const world = await endpointWorld()
    for (let i = 0; i < times; i++) expect(await killed(world)).toBe(503)
    expect(await world.endpoints()).toHaveLength(times)
    expect((await world.read()).secrets).toEqual([])
    expect((await world.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    await requireOne(world)
    expect((await world.setUp()).body).toMatchObject({ did: 'unchanged', findings: [] })
    await requireOne(world)
  })

  it('in an account that is then full: what was left over makes room', async () => {
    const others = Array.from({ length: 15 }, (_, n) => endpointAt(`https://shop.example.com/${n}`))
    const world = await endpointWorld({ objects: others })
    await killed(world)
    expect((await world.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    const ours = (await world.endpoints()).filter(({ url }) => url === world.shop.ingest_url) as [Item]
    expect(ours).toHaveLength(1)
    expect(await world.deliverFrom(ours[0])).toBe(200)
    expect(await world.endpoints()).toHaveLength(16)
  })

  it('removes what it has made, if only the database fails', async () => {
    const world = await endpointWorld()
    expect((await world.setUp({}, { bindings: { DB: losesSecret() } })).status).toBe(503)
    expect(await world.endpoints()).toEqual([])
  })
})

it('a set-up whose answer is lost at the vendor is completed by the next one', async () => {
  const world = await endpointWorld()
  await changeAccount(world.writeKey, { fail: { status: 502, method: 'POST', times: 1 } })
  expect(await world.setUp()).toMatchObject({ status: 502, body: { code: 'vendor_failed' } })
  await world.setUp()
  await requireOne(world)
})

it.each([2, 4])('%i set-ups at once leave one endpoint, whose secret verifies', async (n) => {
  const world = await endpointWorld({ latency_ms: 5 })
  const answers = await Promise.all(Array.from({ length: n }, () => world.setUp()))
  const statuses = answers.map(({ status }) => status)
  // One of many may be told to try again.
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
  expect(statuses).toContain(200)
  await world.setUp()
  await requireOne(world)
  expect((await world.setUp()).body.did).toBe('unchanged')
})

it('The key that may write is found nowhere, even if the vendor says it in each error', async () => {
  const logged = captureConsole()
  const world = await endpointWorld()
  const { writeKey } = world
  const body = JSON.stringify({ error: { code: writeKey, type: writeKey, message: writeKey } })
  const answers: unknown[] = []
  for (const status of [200, 302, 400, 401, 403, 404, 409, 429, 500]) {
    await changeAccount(writeKey, { fail: { status, body, retry_after: writeKey } })
    answers.push(await world.setUp())
  }
  for (const method of ['POST', 'DELETE']) {
    await changeAccount(writeKey, { fail: { status: 400, body, method } })
    answers.push(await world.setUp({}, { bindings: { DB: losesSecret() } }))
  }
  await changeAccount(writeKey, { fail: { status: 500, path: '/nowhere' } })
  answers.push(await world.setUp({}, { headers: { 'Idempotency-Key': 'canary' } }))
  answers.push(
    await world.setUp({ events: 'some' }),
    await world.post(`${writeKey} `),
    await world.post(`x${writeKey}`),
  )
  answers.push(await world.setUp(), await world.setUp())
  await world.readable({}, newStripeKey())
  answers.push(await world.check(), await world.read(), await world.api('/webhooks/health'))
  await cron()
  const [endpoint] = (await world.endpoints()) as [Item]
  const secret = String(endpoint.secret)
  const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
  expect(places.answers).toContain('vendor_failed')
  expect(places.storage).toContain('connection.endpoint_set')
  expect(logged.filter((line) => line.includes('vendor_call')).length).toBeGreaterThan(20)
  for (const part of [writeKey, writeKey.slice(-24), writeKey.slice(12, 36), secret, secret.slice(8)])
    for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
})
