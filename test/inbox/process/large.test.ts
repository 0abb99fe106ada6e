import { beforeEach, describe, expect, it, vi } from 'vitest'
import { LEASE_MS, MAX_CLAIMED_BYTES } from '../../../src/inbox/process/limits'
import { MAX_DELIVERY_BYTES } from '../../../src/inbox/receive/limits'
import { SECOND } from '../../../src/lib/time'
import { VENDORS } from '../../../src/vendors'
import { countingD1, deliverBytes, stripeEvent } from '../../harness'
import {
  advance,
  cron,
  expectConsistent,
  fail,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
  weighedD1,
} from '../pipeline'

/* Deliveries of 1 MiB: an isolate has 128 MB for a batch of a hundred and all that is made of it. */

const MIB = 1024 * 1024
/** What one answer of D1 may bring: 8 MiB of payloads, and small rows beside them. */
const MOST = 8.5 * MIB

beforeEach(() => {
  stopClock()
})

/** A subscription's event, filled up to 1 MiB. */
function largeEvent() {
  const event = { ...stripeEvent(), pad: '' }
  return { ...event, pad: 'x'.repeat(MAX_DELIVERY_BYTES - JSON.stringify(event).length) }
}

async function deliverLarge({ send }: World, n: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    const { status, body } = await send(largeEvent())
    expect(status).toBe(200)
    ids.push(body.event_ids[0])
  }
  return ids
}

const statuses = async (project: string) =>
  (await stored(project)).map(({ status, attempts }) => `${status} ${attempts}`)

describe('a batch of large payloads', () => {
  it('brings a few at a time, each once, and writes what a batch of small ones does', async () => {
    const world = await newWorld()
    const { queue, project } = world
    await deliverLarge(world, 20)
    const { DB, weight, payloads } = weighedD1()
    await queue.pump({ DB })
    expect(await statuses(project)).toEqual(Array(20).fill('processed 1'))
    expect(Math.max(...weight.answers)).toBeLessThan(MOST)
    expect(weight.heaviestBound).toBeLessThan(1_000_000)
    expect([...payloads.values()]).toEqual(Array(20).fill(1))
    await expectConsistent(project)
  })

  it('costs no more trips than its payloads fill', async () => {
    expect(MAX_CLAIMED_BYTES).toBe(4 * MAX_DELIVERY_BYTES) // so that the largest payload always fits
    const world = await newWorld()
    // The counts of formats are written once a minute, with whatever is processed then.
    await world.send(stripeEvent())
    await world.queue.pump()
    await deliverLarge(world, 8)
    const { DB, count } = countingD1()
    await world.queue.pump({ DB })
    expect(count.trips).toBe(3 * 2)
  })

  it('lets other requests run between its parts, and a batch of small ones does not wait', async () => {
    const world = await newWorld()
    const wait = vi.spyOn(scheduler, 'wait')
    await world.send(stripeEvent())
    await world.send(stripeEvent())
    await world.queue.pump()
    expect(wait).not.toHaveBeenCalled()
    await deliverLarge(world, 9)
    await world.queue.pump()
    expect(wait).toHaveBeenCalledTimes(2) // three parts
    wait.mockRestore()
  })

  it('of which one delivery has many events: brings and decodes it once', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    const ids = Array.from({ length: 100 }, (_, n) => `EV_${n}`)
    const { body } = await sendGocardless(world, connection, ids, { note: 'x'.repeat(10_000) })
    expect(body.event_ids).toHaveLength(100)
    const decode = vi.spyOn(VENDORS.gocardless, 'decode')
    const { DB, weight, payloads } = weighedD1()
    await world.queue.pump({ DB })
    expect(await statuses(world.project)).toEqual(Array(100).fill('ignored 1'))
    expect([...payloads.values()]).toEqual([1])
    expect(Math.max(...weight.answers)).toBeLessThan(1.5 * MIB)
    expect(decode).toHaveBeenCalledTimes(1)
    await expectConsistent(world.project)
  })
})

describe('a worker that dies between the parts of a batch', () => {
  it('leaves the rest as it was, and due', async () => {
    const world = await newWorld()
    const { queue, project } = world
    await deliverLarge(world, 10)
    let dead = false
    const DB = tamperedD1((trip) => {
      dead ||= trip.index > 2
      return dead ? fail(trip, 'before') : trip.run()
    })
    await queue.pump({ DB }, { batches: 1, killed: () => dead })
    const left = (await statuses(project)).filter((status) => status === 'received 0')
    expect(left.length).toBeGreaterThan(0)
    expect(left.length).toBeLessThan(10)
    expect((await statuses(project)).filter((status) => status === 'processed 1')).toHaveLength(10 - left.length)
    await queue.pump()
    expect(await statuses(project)).toEqual(Array(10).fill('processed 1'))
    await expectConsistent(project)
  })
})

describe('a batch that takes longer than a lease', () => {
  it('claims each part when its turn comes, so that every lease has its full time', async () => {
    const world = await newWorld()
    await deliverLarge(world, 10)
    const DB = tamperedD1(async (trip) => {
      const results = await trip.run()
      // Just within its lease for one part, far beyond it for all of them.
      if (trip.index % 3 === 1) advance(LEASE_MS - SECOND)
      await cron({ EVENTS: world.queue.EVENTS })
      return results
    })
    await world.queue.pump({ DB }, { batches: 1 })
    expect(await statuses(world.project)).toEqual(Array(10).fill('processed 1'))
    await settle(world)
    expect(await statuses(world.project)).toEqual(Array(10).fill('processed 1'))
    await expectConsistent(world.project)
  })

  it('leaves what another worker has done meanwhile', async () => {
    const world = await newWorld()
    const { queue, project } = world
    await deliverLarge(world, 10)
    let others = 0
    const DB = tamperedD1(async (trip) => {
      if (trip.index !== 3) return trip.run()
      advance(LEASE_MS + SECOND)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump()
      others = (await statuses(project)).filter((status) => status === 'processed 1').length
      return trip.run()
    })
    await queue.pump({ DB }, { batches: 1 })
    expect(others).toBe(10)
    expect(await statuses(project)).toEqual(Array(10).fill('processed 1'))
    await expectConsistent(project)
  })
})

describe('payloads that are not UTF-8', () => {
  /** Every byte, in a place of its own in each payload. */
  const bytesOf = (n: number) =>
    Uint8Array.from({ length: MAX_DELIVERY_BYTES }, (_, i) => (i * 31 + n + (i >> 8)) & 255)

  it('pass as text both ways, are not brought to be processed, and come back byte for byte', async () => {
    const world = await newWorld()
    const { project, queue } = world
    const received = weighedD1()
    const sent = [0, 1, 2, 3, 4, 5].map(bytesOf)
    for (const bytes of sent) {
      const { status } = await deliverBytes(world.connection.id, bytes, {
        bindings: { EVENTS: queue.EVENTS, DB: received.DB },
      })
      expect(status).toBe(200)
      advance(1) // so that they are listed in this order
    }
    expect(received.weight.numberLists).toBe(0)
    const processed = weighedD1()
    await queue.pump({ DB: processed.DB })
    expect(processed.weight.numberLists).toBe(0)
    expect(Math.max(...processed.weight.answers)).toBeLessThan(100_000)
    const failed = await rows('SELECT status, last_error FROM events WHERE project_id = ?', project)
    expect(failed).toEqual(Array(6).fill({ status: 'failed', last_error: 'the payload is not UTF-8 text' }))
    expect(await rows('SELECT DISTINCT typeof(body) AS type FROM packed_bodies WHERE project_id = ?', project)).toEqual(
      [{ type: 'blob' }],
    )
    const read = weighedD1()
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/webhooks?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { body } = await world.api(path, { bindings: { DB: read.DB } })
      seen.push(...body.data.map(({ raw_payload_b64 }) => raw_payload_b64))
      cursor = body.next_cursor
    }
    expect(read.weight.numberLists).toBe(0)
    expect(Math.max(...read.weight.answers)).toBeLessThan(MOST)
    expect(seen).toEqual(sent.map((bytes) => bytes.toBase64()).reverse())
    await expectConsistent(project)
  })
})
