import { beforeEach, describe, expect, it } from 'vitest'
import { type Env, openRuntime } from '../../../src/env'
import { MAX_REMEMBERED } from '../../../src/inbox/receive/limits'
import { newConnectionId, newId } from '../../../src/lib/ids'
import { seal, sealContext } from '../../../src/lib/seal'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { inOneWindow } from '../../clock'
import {
  bound,
  call,
  countingD1,
  databaseOf,
  deliver,
  freshAddress,
  STORE_NUMBER,
  STRIPE_SECRET,
  stripeEvent,
  withLimits,
} from '../../harness'
import { openOnly } from '../../stores/stores'
import { advance, D1_OUT, newWorld, stopClock, tamperedD1 } from '../pipeline'

/* Deliveries to connections that nobody has, and what they may cost. */

beforeEach(() => {
  stopClock()
})

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
let ids = 0
/** An id that nobody has: by turns one from before there was a check character, and one with it. */
const invented = () => (ids++ % 2 === 0 ? newId('con', Date.now()) : newConnectionId(Date.now(), 0))
const from = (address: string) => ({ 'CF-Connecting-IP': address })

/** A limiter that keeps the keys it is asked for. */
function recordingLimit() {
  const keys: string[] = []
  const limit = async ({ key }: RateLimitOptions) => {
    keys.push(key)
    return { success: true }
  }
  return { keys, limiter: { limit } as RateLimit }
}

describe('the id of a connection', () => {
  it('has a check character: no slip of the hand costs a read or counts against a limit', async () => {
    const { connection } = await newWorld()
    expect(connection.id).toMatch(new RegExp(`^con_[${DIGITS}]{${STORE_NUMBER === 0 ? 27 : 28}}$`))
    const own = connection.id.slice(4)
    const slips: string[] = []
    for (const [i, char] of [...own].entries()) {
      for (const other of DIGITS) if (other !== char) slips.push(own.slice(0, i) + other + own.slice(i + 1))
      for (let j = i + 1; j < own.length; j++) {
        if (own[j] === char) continue
        slips.push(own.slice(0, i) + own[j] + own.slice(i + 1, j) + char + own.slice(j + 1))
      }
    }
    expect(slips.length).toBeGreaterThan(27 * 31)
    const { DB, count } = countingD1()
    const { keys, limiter } = recordingLimit()
    const bindings = { DB, LIMIT_INGEST: limiter, LIMIT_UNKNOWN_CONNECTION: limiter }
    for (const slip of [...slips, `${own}0`, own.slice(0, 25), own.toUpperCase()]) {
      const answer = await call(`/ingest/con_${slip}`, { method: 'POST', body: '{}', bindings })
      expect([answer.status, answer.body.code]).toEqual([404, 'unknown_connection'])
    }
    expect([count.trips, keys.length]).toEqual([0, 0])
  })

  it('from before there was a check character stays good', async () => {
    await openOnly(0) // where all connections of then are
    const world = await newWorld()
    await openOnly(STORE_NUMBER)
    const old = newId('con', Date.now())
    expect(old).toHaveLength(30)
    const { settings } = openRuntime(bound, { waitUntil: () => {} })
    const sealed = await seal(settings.encryptionKeys, STRIPE_SECRET, sealContext(world.project, old, 'sec_old'))
    const secrets = JSON.stringify([{ id: 'sec_old', hint: '', created_at: 1, ...sealed }])
    await databaseOf(0)
      .prepare(
        "INSERT INTO connections (id, project_id, vendor, name, livemode, secrets, created_at) VALUES (?, ?, 'stripe', 'old', 1, ?, 1)",
      )
      .bind(old, world.project, secrets)
      .run()
    const sent = await deliver(old, stripeEvent(), { bindings: { EVENTS: world.queue.EVENTS } })
    expect(sent.status, sent.text).toBe(200)
    const read = await world.api(`/connections/${old}`)
    expect([read.body.id, read.body.ingest_url]).toEqual([old, expect.stringMatching(new RegExp(`/ingest/${old}$`))])
    expect((await world.api(`/webhooks/search?connection_id=${old}`)).body.data).toHaveLength(1)
  })
})

describe('invented ids', () => {
  beforeEach(withLimits)

  const LIMIT = 120
  /** An IPv6 network, whose owner can send from any address in it. */
  function network() {
    const base = freshAddress().replace(/::1$/, '')
    let n = 0
    return () => from(`${base}:${(++n).toString(16)}:0:${n.toString(16)}:7`)
  }
  const send = async (id: string, headers: Record<string, string>, bindings: Partial<Env> = {}) => {
    const { status, headers: answered } = await call(`/ingest/${id}`, { method: 'POST', body: '{}', headers, bindings })
    return [status, answered.get('Retry-After')]
  }

  it('cost an address 120 reads a minute; then it is refused before the database is asked, for ten seconds', async () => {
    const { DB, count } = countingD1()
    const { own, statuses } = await inOneWindow(async () => {
      count.trips = 0
      const own = network()
      const statuses: unknown[] = []
      for (let i = 0; i < 300; i++) statuses.push((await send(invented(), own(), { DB }))[0])
      return { own, statuses }
    })
    expect(statuses).toEqual([...Array(LIMIT + 1).fill(404), ...Array(300 - LIMIT - 1).fill(429)])
    expect(count.trips).toBe(LIMIT + 1)
    expect(await send(invented(), own())).toEqual([429, '10'])
    expect((await send(invented(), network()()))[0]).toBe(404)
    advance(10 * SECOND - 1)
    expect((await send(invented(), own()))[0]).toBe(429)
    advance(1)
    expect((await send(invented(), own()))[0]).toBe(404)
  })

  it('do not shut out a connection that this isolate knows, behind the same address', async () => {
    const world = await newWorld()
    const other = await newWorld()
    const address = from(freshAddress())
    expect((await world.send(stripeEvent(), { headers: address })).status).toBe(200)
    await inOneWindow(async () => {
      for (let i = 0; i <= LIMIT; i++) await send(invented(), address)
    })
    expect((await world.send(stripeEvent(), { headers: address })).status).toBe(200)
    advance(2 * MINUTE) // its entry is out of date, and good for this all the same
    await inOneWindow(async () => {
      for (let i = 0; i <= LIMIT; i++) await send(invented(), address)
    })
    expect((await world.send(stripeEvent(), { headers: address })).status).toBe(200)
    expect((await other.send(stripeEvent(), { headers: address })).status).toBe(429)
    expect((await other.send(stripeEvent())).status).toBe(200)
  })

  it('push no connection out of memory: its deliveries are spooled while D1 is out', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    const answer = { results: [], success: true, meta: { rows_read: 0, rows_written: 0 } } as unknown as D1Result
    const DB = tamperedD1(async () => [answer])
    const { limiter } = recordingLimit()
    for (let i = 0; i <= MAX_REMEMBERED; i++) {
      await send(invented(), from(`192.0.2.${i % 250}`), {
        DB,
        LIMIT_UNKNOWN_CONNECTION: limiter,
        LIMIT_INGEST: limiter,
      })
    }
    expect((await world.send(stripeEvent(), { bindings: { DB: D1_OUT } })).status).toBe(200)
    expect(world.queue.sent.at(-1)?.body).toMatchObject({ spooled: 1 })
  })

  it('count by network, once for each read; deleted connections and known ones do not count', async () => {
    const world = await newWorld()
    const { keys, limiter } = recordingLimit()
    const bindings = { LIMIT_UNKNOWN_CONNECTION: limiter }
    await world.send(stripeEvent(), { bindings })
    const deleted = await newWorld()
    await deleted.api(`/connections/${deleted.connection.id}`, { method: 'DELETE' })
    expect((await deleted.send(stripeEvent(), { bindings })).status).toBe(404)
    expect(keys).toEqual([])
    const id = invented()
    for (const wait of [0, 0, MINUTE - 1]) {
      advance(wait)
      await send(id, from('2001:db8:1:2:3:4:5:6'), bindings)
    }
    expect(keys).toEqual(['2001:db8:1:2::/64'])
    advance(1)
    await send(id, from('192.0.2.7'), bindings)
    expect(keys).toEqual(['2001:db8:1:2::/64', '192.0.2.7'])
  })

  it('are refused with nothing read of the body', async () => {
    let pulled = 0
    const body = new ReadableStream(
      {
        pull: (controller) => {
          pulled += 1
          controller.enqueue(new Uint8Array(65_536))
        },
      },
      { highWaterMark: 0 },
    )
    for (const id of [invented(), invented()]) {
      expect((await call(`/ingest/${id}`, { method: 'POST', body })).status).toBe(404)
      expect(pulled).toBe(0)
    }
  })
})
