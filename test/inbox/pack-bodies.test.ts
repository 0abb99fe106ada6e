import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { PACKED_AT_ONCE, PACKED_BYTES } from '../../src/inbox/limits'
import { packBodies } from '../../src/inbox/pack-bodies'
import { inflated, keyFloor, newKey, packed } from '../../src/inbox/packing'
import { asText } from '../../src/inbox/payload'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { utf8 } from '../../src/lib/crypto'
import { DAY, HOUR, SECOND } from '../../src/lib/time'
import { countingD1, deliverBytes, STORE, stripeEvent } from '../harness'
import { SAMPLES } from '../vendors/samples'
import { advance, expectConsistent, keepHouse, newWorld, rows, settle, stopClock, stored, type World } from './pipeline'

/* Bodies that were recorded before `packed_bodies` was there, and how they are packed. */

const recorded = import.meta.glob('../entitlements/story/*.json', { query: '?raw', import: 'default', eager: true })
/** What vendors send: recorded events, and a payload of each vendor. */
const TEXTS = [
  ...Object.values(recorded as Record<string, string>),
  ...Object.values(SAMPLES).map((one) => JSON.stringify(one)),
]

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')

beforeEach(async () => {
  stopClock(NIGHT)
  for (const table of ['bodies', 'packed_bodies', 'progress']) await rows(`DELETE FROM ${table}`)
  await rows(
    "INSERT INTO state VALUES ('packed_from', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    NIGHT + HOUR,
  )
})

const counts = async () => {
  const [found] = await rows<{ former: number; packed: number }>(
    'SELECT (SELECT count(*) FROM bodies) AS former, (SELECT count(*) FROM packed_bodies) AS packed',
  )
  return [found?.former, found?.packed]
}
const payloadsOf = async ({ api }: World) => {
  const { body } = await api('/webhooks?limit=100')
  return body.data.map(({ id, raw_payload_b64 }) => [id, raw_payload_b64])
}

/** Payloads of every kind: texts, bytes that are not UTF-8, NUL, random ones, large and empty ones. */
const KINDS = [
  ...TEXTS.map((text) => utf8(text)),
  utf8(JSON.stringify(stripeEvent())),
  utf8('{"id":"evt_x","type":"x"}'),
  utf8(`{"note":"${'€'.repeat(300_000)}"}`),
  utf8(`{"note":"${'a\0'.repeat(300)}"}`),
  Uint8Array.from({ length: 600 }, (_, i) => i & 255),
  crypto.getRandomValues(new Uint8Array(60_000)),
  utf8(crypto.getRandomValues(new Uint8Array(60_000)).toBase64()),
]

async function worldOfBefore(): Promise<World> {
  const world = await newWorld()
  for (const bytes of KINDS) {
    const { status } = await deliverBytes(world.connection.id, bytes, { bindings: { EVENTS: world.queue.EVENTS } })
    expect(status).toBe(200)
    advance(1)
  }
  return world
}

describe('bodies of the version before', () => {
  it('are recorded where that version reads them, until it runs no more', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    expect(await counts()).toEqual([1, 0])
    advance(HOUR)
    await world.send(stripeEvent())
    expect(await counts()).toEqual([1, 1])
    await settle(world)
    await expectConsistent(world.project)
  })

  it('are the same bytes before and after they are packed, and are replayed', async () => {
    const world = await worldOfBefore()
    await settle(world)
    expect(await counts()).toEqual([KINDS.length, 0])
    const before = await payloadsOf(world)
    expect(before.map(([, text]) => text).toReversed()).toEqual(KINDS.map((bytes) => bytes.toBase64()))
    await keepHouse()
    expect(await counts()).toEqual([KINDS.length, 0]) // not before the hour is over
    advance(2 * HOUR)
    await keepHouse()
    expect(await counts()).toEqual([0, KINDS.length])
    expect(await payloadsOf(world)).toEqual(before)
    const sizes = await rows<{ bytes: number; stored: number }>(
      'SELECT bytes, octet_length(body) AS stored FROM packed_bodies',
    )
    expect(sizes.map(({ bytes }) => bytes).toSorted()).toEqual(KINDS.map(({ byteLength }) => byteLength).toSorted())
    expect(sizes.every(({ bytes, stored }) => stored <= bytes)).toBe(true)
    const statuses = async () => (await stored(world.project)).map(({ status }) => status)
    const was = await statuses()
    expect((await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })).body.queued).toBe(
      KINDS.length,
    )
    await settle(world)
    expect(await statuses()).toEqual(was)
    await expectConsistent(world.project)
  })

  it('stay readable while events are open, and are packed in steps, one at least', async () => {
    const world = await worldOfBefore()
    const db = openDb<Db>(STORE)
    advance(2 * HOUR)
    expect(PACKED_BYTES).toBeGreaterThan(MAX_DELIVERY_BYTES)
    const large = KINDS.length + 3
    for (let i = 0; i < 3; i++) {
      await rows("UPDATE state SET value = value + 1e12 WHERE name = 'packed_from'")
      await world.send(stripeEvent('charge.succeeded', { object: 'charge', note: 'x'.repeat(1_000_000) }))
      advance(1)
    }
    const before = await payloadsOf(world)
    await rows("UPDATE state SET value = 0 WHERE name = 'packed_from'")
    const steps: number[] = []
    for (let after: string | null = ''; after !== null; ) {
      const step = await packBodies(db, after, Date.now())
      if (step.after !== null) steps.push(step.done)
      after = step.after
    }
    expect(steps.length).toBeGreaterThan(1)
    expect(steps.reduce((sum, n) => sum + n)).toBe(large)
    expect(PACKED_AT_ONCE).toBeGreaterThan(large)
    expect(await payloadsOf(world)).toEqual(before)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('cost one statement where there are none, and stay where no event has them', async () => {
    const { DB, count } = countingD1()
    advance(2 * HOUR)
    expect(await packBodies(openDb(DB), '', Date.now())).toEqual({ done: 0, after: null })
    expect(count).toMatchObject({ trips: 1, statements: 1, rows_written: 0 })
    await rows("INSERT INTO bodies (project_id, id, body) VALUES ('prj_x', 'pay_01m84yyckhfybs8dm0vmb8s4yg', '{}')")
    await keepHouse()
    expect(await counts()).toEqual([1, 0])
  })

  it('go when their days are over, packed or not', async () => {
    const world = await worldOfBefore()
    await settle(world)
    advance(2 * HOUR)
    await world.send(stripeEvent())
    await settle(world)
    advance(91 * DAY)
    await keepHouse()
    expect(await counts()).toEqual([0, 0])
    await expect(world.api('/webhooks?limit=100')).resolves.toMatchObject({ status: 200 })
  })
})

describe('a key that another body has', () => {
  it('is replaced: each delivery has its own payload, alone or in one trip', async () => {
    await rows("UPDATE state SET value = 0 WHERE name = 'packed_from'")
    const world = await newWorld()
    await world.send(stripeEvent()) // now the connection is known
    /** The next body of this second has the key that an isolate would give it that began the second at the same number. */
    const asInAnotherIsolate = () => newKey(NIGHT + SECOND)
    let same = 12
    const random = crypto.getRandomValues.bind(crypto)
    const spy = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
      const made = random(array)
      if (made instanceof Uint32Array && made.length === 1 && same-- > 0) made[0] = 7
      return made
    })
    const { DB, count } = countingD1()
    const events = Array.from({ length: 10 }, () => stripeEvent())
    const [first, ...others] = events
    asInAnotherIsolate()
    expect((await world.send(first, { bindings: { DB } })).status).toBe(200)
    expect(count.trips).toBe(1)
    asInAnotherIsolate()
    const answers = await Promise.all(others.map((event) => world.send(event)))
    expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(200))
    expect(same).toBeLessThanOrEqual(0)
    spy.mockRestore()
    const payloads = new Map((await payloadsOf(world)).map(([, text]) => [JSON.parse(atob(`${text}`)).id, text]))
    for (const event of events) expect(payloads.get(event.id)).toBe(utf8(JSON.stringify(event)).toBase64())
    await settle(world)
    await expectConsistent(world.project)
  })
})

describe('packing', () => {
  it('keeps every recorded payload byte for byte, in fewer bytes', async () => {
    expect(TEXTS.length).toBeGreaterThan(20)
    for (const text of TEXTS) {
      const { encoding, bytes, body } = packed(text)
      expect(bytes).toBe(utf8(text).byteLength)
      if (encoding === null) expect(body).toBe(text)
      else {
        expect((body as Uint8Array).byteLength).toBeLessThan(bytes)
        expect(asText(inflated(body as Uint8Array<ArrayBuffer>))).toBe(text)
        expect(() => inflated((body as Uint8Array<ArrayBuffer>).slice(0, -1))).toThrow()
      }
    }
  })

  it('stops where what is stored would take more than a delivery', () => {
    const { body } = packed('x'.repeat(MAX_DELIVERY_BYTES + 1))
    expect(() => inflated(body as Uint8Array<ArrayBuffer>)).toThrow('larger than a delivery')
    const { body: most } = packed('x'.repeat(MAX_DELIVERY_BYTES))
    expect(inflated(most as Uint8Array<ArrayBuffer>)).toHaveLength(MAX_DELIVERY_BYTES)
  })

  it('gives keys that are exact numbers, in the order of seconds', () => {
    const [one, other] = [newKey(NIGHT), newKey(NIGHT + 1000)]
    expect(other).toBeGreaterThan(one)
    expect(Number.isSafeInteger(newKey(Date.parse('2100-01-01')))).toBe(true)
  })

  it('gives no key twice in a second: not even to the 50,000 bodies of a burst', () => {
    const keys = Array.from({ length: 50_000 }, () => newKey(NIGHT))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.every((key) => key >= keyFloor(NIGHT) && key < keyFloor(NIGHT + 1000))).toBe(true)
  })
})
