import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_DELIVERY_BYTES } from '../../../src/inbox/receive/limits'
import { SECOND } from '../../../src/lib/time'
import { VENDOR_NAMES } from '../../../src/vendors'
import { visit } from '../../console/visit'
import { call, countingD1, stripeEvent } from '../../harness'
import { advance, D1_OUT, expectConsistent, newWorld, rows, settle, stopClock, stored, type World } from '../pipeline'
import { REDELIVERED, type Redelivered, rearranged } from './redelivered'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A connection of a vendor, and what sends deliveries to it. */
async function sender(world: World, name: string, { secret, sign, verification }: Redelivered) {
  const vendor = name.split(' ')[0]
  const json = { vendor, name: vendor, livemode: true, signing_secret: secret }
  const { body: connection } = await world.api('/connections', { method: 'POST', json })
  if (verification) await world.api(`/connections/${connection.id}/verification`, { method: 'PUT', json: verification })
  let attempt = 0
  return async (text: string) => {
    attempt += 1
    const delivery = await sign(text, secret, { url: connection.ingest_url, attempt })
    const bindings = { EVENTS: world.queue.EVENTS }
    return call(`/ingest/${connection.id}`, { method: 'POST', ...delivery, bindings })
  }
}

describe('a delivery with a known id', () => {
  it.each(Object.entries(REDELIVERED))(
    'of %s counts as differing only if its content does',
    async (name, redelivered) => {
      const { event, again, other } = redelivered
      const world = await newWorld()
      const send = await sender(world, name, redelivered)
      const first = await send(JSON.stringify(event))
      expect(first).toMatchObject({ status: 200, body: { duplicate: false } })
      const id = first.body.event_ids.at(-1) ?? ''
      const noted = async () => {
        const { deliveries, differing_deliveries, last_differing_at } = await world.event(id)
        return [deliveries, differing_deliveries, last_differing_at]
      }
      const { raw_payload_b64 } = await world.event(id)
      const sendAgain = async (payload: string) => {
        advance(SECOND)
        expect((await send(payload)).body.duplicate).toBe(true)
        return noted()
      }
      expect(await sendAgain(JSON.stringify(event))).toEqual([2, 0, null])
      expect(await sendAgain(JSON.stringify(again))).toEqual([3, 0, null])
      expect(await sendAgain(rearranged(again))).toEqual([4, 0, null])
      const differed = await sendAgain(JSON.stringify(other))
      expect(differed).toEqual([5, 1, new Date().toISOString()])
      expect(await sendAgain(JSON.stringify(again))).toEqual([6, 1, differed[2]])
      expect(await sendAgain(JSON.stringify(other))).toEqual([7, 2, new Date().toISOString()])
      await settle(world)
      // The first one stays, and is what is processed.
      expect((await world.event(id)).raw_payload_b64).toBe(raw_payload_b64)
      await expectConsistent(world.project)
    },
  )

  it('is tried for every vendor whose events have ids', () => {
    const tried = Object.keys(REDELIVERED).map((name) => name.split(' ')[0] ?? '')
    const byBytes = ['braintree', 'lemonsqueezy']
    expect([...new Set([...tried, ...byBytes])].sort()).toEqual([...VENDOR_NAMES].sort())
  })

  it('costs the same, whatever its content', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    await world.send(event)
    const costs = []
    for (const sent of [event, { ...event, livemode: true }]) {
      const { DB, count } = countingD1()
      await world.send(sent, { bindings: { DB } })
      costs.push(count)
    }
    expect(await stored(world.project)).toMatchObject([{ deliveries: 3, differing: 1 }])
    expect(costs[1]).toEqual(costs[0])
  })

  it('says nothing about an event that was recorded without a digest', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    await world.send(event)
    await rows('UPDATE events SET content_digest = NULL WHERE project_id = ?', world.project)
    await world.send({ ...event, livemode: true })
    expect(await stored(world.project)).toMatchObject([{ deliveries: 2, differing: 0, last_differing_at: null }])
  })

  it('says nothing where either payload is nested too deeply to compare, and is accepted', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    const depth = MAX_DELIVERY_BYTES / 4
    const deep = JSON.stringify({ ...event, deep: 0 }).replace(
      '"deep":0',
      `"deep":${'['.repeat(depth)}${']'.repeat(depth)}`,
    )
    for (const sent of [deep, JSON.stringify(event)]) expect((await world.send(sent)).status).toBe(200)
    expect(await stored(world.project)).toMatchObject([{ content_digest: null, deliveries: 2, differing: 0 }])
  })

  it('is compared when it comes through the Queue, but not if an earlier version put it there', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    await world.send(event)
    const bindings = { DB: D1_OUT, EVENTS: world.queue.EVENTS }
    await world.send({ ...event, livemode: true }, { bindings })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ deliveries: 2, differing: 1 }])
    await world.send({ ...event, livemode: true }, { bindings })
    const message = world.queue.sent.at(-1)?.body as { events: { content_digest?: string }[] }
    for (const one of message.events) delete one.content_digest
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ deliveries: 3, differing: 1 }])
  })
})

it('shows in the history of the event and of its object', async () => {
  const world = await newWorld()
  const event = stripeEvent('customer.subscription.updated', { id: 'sub_differs' })
  const { body } = await world.send(event)
  await settle(world)
  const events = `/console/p/${world.project}/platform/billing`
  const texts = async () => {
    const pages = [`${events}/webhooks/${body.event_ids[0]}`, `${events}/subscriptions/sub_differs?vendor=stripe`]
    return Promise.all(pages.map(async (page) => (await visit(page, world.owner.token)).text))
  }
  for (const text of await texts()) expect(text).not.toContain('different content')
  await world.send({ ...event, livemode: true })
  for (const text of await texts()) expect(text).toContain('different content')
  const { data } = (await world.api('/subscriptions/sub_differs/timeline')).body
  expect(data).toMatchObject([{ differing_deliveries: 1, last_differing_at: new Date().toISOString() }])
})
