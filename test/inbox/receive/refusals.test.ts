import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import { REREAD_EVERY } from '../../../src/inbox/receive/limits'
import { newConnectionId } from '../../../src/lib/ids'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { bindingsWith, countingD1, ORIGIN, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  expectConsistent,
  newWorld,
  only,
  rows,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const event = stripeEvent()
const refusedOf = async (project: string) => {
  const sum: Record<string, number> = {}
  for (const { refused } of await rows<{ refused: string }>(
    'SELECT refused FROM minutes WHERE project_id = ?',
    project,
  )) {
    for (const [cause, n] of Object.entries<number>(JSON.parse(refused))) sum[cause] = (sum[cause] ?? 0) + n
  }
  return sum
}

describe('junk', () => {
  const CAUSES = [
    ['signature_mismatch', { 'Stripe-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` }],
    ['signature_malformed', { 'Stripe-Signature': 'v1=zz' }],
    ['signature_missing', {}],
  ] as const

  /** Posts without waiting for what each leaves to be done: the refusals are summed meanwhile. */
  async function post(id: string, headers: Record<string, string>, bindings: Partial<Env>) {
    const ctx = createExecutionContext()
    const request = new Request(`${ORIGIN}/ingest/${id}`, { method: 'POST', body: '{}', headers })
    const response = await worker.fetch(request as never, bindingsWith(bindings), ctx)
    const { code } = (await response.json()) as { code: string }
    return { status: response.status, code, ctx }
  }

  it('costs a read a second, one for a diagnosis, and no write each: refusals are summed by cause', async () => {
    const world = await newWorld()
    await world.send(event)
    await settle(world)
    advance(2 * SECOND)
    const seen = { reads: 0, writes: 0 }
    const DB = tamperedD1((trip) => {
      seen[/^select/i.test(trip.sql) ? 'reads' : 'writes'] += 1
      return trip.run()
    })
    const bindings = { DB, REFUSAL_FLUSH_MS: '400' }
    const contexts: ExecutionContext[] = []
    for (let i = 0; i < 100; i++) {
      if (i > 0 && i % 25 === 0) advance(SECOND)
      const [cause, headers] = CAUSES[i % 3] as (typeof CAUSES)[number]
      const answer = await post(world.connection.id, headers, bindings)
      expect([answer.status, answer.code]).toEqual([401, cause])
      contexts.push(answer.ctx)
    }
    await Promise.all(contexts.map((ctx) => waitOnExecutionContext(ctx)))
    expect(seen).toEqual({ reads: 5, writes: 1 })
    expect(await refusedOf(world.project)).toEqual({
      signature_mismatch: 34,
      signature_malformed: 33,
      signature_missing: 33,
    })
    const { last_60m } = (await world.api('/webhooks/health')).body
    expect(last_60m).toMatchObject({ received: 1, refused: { signature_mismatch: 34 } })
    expect(await stored(world.project)).toHaveLength(1)
    await expectConsistent(world.project)
  })

  it('all at once is written once too, and is added to what was counted before', async () => {
    const world = await newWorld()
    let writes = 0
    const DB = tamperedD1((trip) => {
      if (!/^select/i.test(trip.sql)) writes += 1
      return trip.run()
    })
    for (const round of [1, 2]) {
      const [, headers] = CAUSES[0]
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(world.connection.id, headers, { DB })))
      await Promise.all(answers.map(({ ctx }) => waitOnExecutionContext(ctx)))
      expect(await refusedOf(world.project)).toEqual({ signature_mismatch: 50 * round })
      expect(writes).toBeLessThanOrEqual(3 * round)
    }
    await expectConsistent(world.project)
  })

  it('tells how far the clocks are apart', async () => {
    stopClock(Math.ceil(Date.now() / 1000) * 1000)
    const world = await newWorld()
    const at = Math.floor(Date.now() / 1000)
    for (const [skew, status] of [
      [-299, 200],
      [299, 200],
      [-302, 401],
      [302, 401],
    ] as const) {
      const { status: answered, body } = await world.send(event, { at: at + skew })
      expect(answered).toBe(status)
      if (status === 401) {
        expect(body.code).toBe('signature_timestamp')
        expect(body.detail).toMatch(skew < 0 ? / 302 s behind our clock/ : / 302 s ahead of our clock/)
      }
    }
    expect(await refusedOf(world.project)).toEqual({ signature_timestamp: 2 })
    await settle(world)
    await expectConsistent(world.project)
  })

  it('to an id that nobody has is answered from memory, for a while', async () => {
    const id = newConnectionId(Date.now(), 0)
    const { DB, count } = countingD1()
    const send = async () => (await post(id, {}, { DB })).code
    const trips: number[] = []
    for (const wait of [0, 0, MINUTE - 1, 1]) {
      advance(wait)
      expect(await send()).toBe('unknown_connection')
      trips.push(count.trips)
    }
    expect(trips).toEqual([1, 1, 1, 2])
    // Not `${id}0`: with several stores, one in some hundreds of those is an id that may exist.
    const other = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
    for (const wrong of ['con_1', 'evt_00000000000000000000000000', other]) {
      expect((await post(wrong, {}, { DB })).code).toBe('unknown_connection')
    }
    expect(count.trips).toBe(2)
  })
})

describe('a connection that changes while it is remembered', () => {
  const known = async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await settle(world)
    return world
  }
  const patch = ({ api, connection }: World, json: unknown) =>
    api(`/connections/${connection.id}`, { method: 'PATCH', json })

  /** Adds a secret as another isolate would: this one remembers the connection as it was just before. */
  const addElsewhere = async (world: World, signing_secret: string) => {
    const { id } = world.connection
    await world.api(`/connections/${id}/secrets`, { method: 'POST', json: { signing_secret } })
    const { secrets } = await only(rows<{ secrets: string }>('SELECT secrets FROM connections WHERE id = ?', id))
    const set = (text: string) =>
      rows('UPDATE connections SET secrets = ?1, version = version + 1 WHERE id = ?2', text, id)
    await set(JSON.stringify(JSON.parse(secrets).slice(0, 1)))
    await world.send(event)
    await set(secrets)
  }

  it('refuses at once when it is disabled, and takes the next delivery when it is enabled', async () => {
    const world = await known()
    expect((await patch(world, { status: 'disabled' })).body.status).toBe('disabled')
    expect(await world.send(event)).toMatchObject({ status: 403, body: { code: 'connection_disabled' } })
    expect(await refusedOf(world.project)).toEqual({ connection_disabled: 1 })
    await patch(world, { status: 'active' })
    expect((await world.send(event)).status).toBe(200)
    await settle(world)
    expect(await stored(world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })

  it('answers 404 at once when it is deleted; its events stay', async () => {
    const world = await known()
    expect((await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await world.send(event)).toMatchObject({ status: 404, body: { code: 'unknown_connection' } })
    const recorded = await only(stored(world.project))
    expect(recorded.status).toBe('processed')
    expect((await world.event(recorded.id)).vendor).toBe('stripe')
    await expectConsistent(world.project)
  })

  it('takes the old and the new secret while both are live, and the old one not a moment longer', async () => {
    const world = await known()
    const { api, connection, project } = world
    const next = 'whsec_the_next_secret_of_this_one'
    advance(SECOND)
    const added = await api(`/connections/${connection.id}/secrets`, { method: 'POST', json: { signing_secret: next } })
    expect(added.status).toBe(201)
    for (const secret of [next, undefined, next, undefined]) {
      expect((await world.send(stripeEvent(), secret ? { secret } : {})).status).toBe(200)
    }
    const old = connection.secrets[0]?.id
    const used = (await api(`/connections/${connection.id}`)).body.secrets
    expect(used.map(({ last_used_at }) => last_used_at)).toEqual([expect.any(String), expect.any(String)])
    expect((await api(`/connections/${connection.id}/secrets/${old}`, { method: 'DELETE' })).status).toBe(204)
    expect(await world.send(event)).toMatchObject({ status: 401, body: { code: 'signature_mismatch' } })
    expect((await world.send(event, { secret: next })).status).toBe(200)
    await settle(world)
    expect(await stored(project)).toHaveLength(6)
    await expectConsistent(project)
  })

  it('takes the next delivery with a secret just added, though it has just refused it', async () => {
    const world = await known()
    const secret = 'whsec_the_right_one_comes_a_bit_later'
    advance(SECOND) // The first refusal has it read again, so the next ones are answered from memory.
    for (let i = 0; i < 3; i++) expect((await world.send(event, { secret })).status).toBe(401)
    await world.api(`/connections/${world.connection.id}/secrets`, { method: 'POST', json: { signing_secret: secret } })
    expect((await world.send(event, { secret })).status).toBe(200)
    await settle(world)
    await expectConsistent(world.project)
  })

  it.each([
    ['adds a secret', '/secrets', 'POST', { signing_secret: 'whsec_another_secret_of_this_one' }, true],
    ['enables it', '', 'PATCH', { status: 'active' }, true],
    ['disables it', '', 'PATCH', { status: 'disabled' }, false],
    ['renames it', '', 'PATCH', { name: 'Renamed' }, false],
  ])('a call that %s answers when no other isolate refuses from older memory', async (_, path, method, json, waits) => {
    const world = await known()
    const pauses = vi.spyOn(scheduler, 'wait')
    const { status } = await world.api(`/connections/${world.connection.id}${path}`, { method, json })
    expect(status).toBeLessThan(300)
    expect(pauses.mock.calls.some(([ms]) => ms === REREAD_EVERY)).toBe(waits)
  })

  it('records nothing under a secret that goes while the delivery is being verified', async () => {
    const world = await known()
    const old = world.connection.secrets[0]?.id
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 0) await world.api(`/connections/${world.connection.id}/secrets/${old}`, { method: 'DELETE' })
      return trip.run()
    })
    expect(await world.send(event, { bindings: { DB } })).toMatchObject({
      status: 401,
      body: { code: 'signature_mismatch' },
    })
    expect(await stored(world.project)).toHaveLength(1)
  })

  it('is read again once, and the delivery recorded, where it changed under the first pass', async () => {
    const world = await known()
    const seen: string[] = []
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 0) await patch(world, { name: 'Renamed' })
      seen.push(/^select/i.test(trip.sql) ? 'read' : 'write')
      return trip.run()
    })
    expect((await world.send(event, { bindings: { DB } })).status).toBe(200)
    expect(seen).toEqual(['write', 'read', 'write'])
    await settle(world)
    expect(await stored(world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })

  it('is read a second time for a refusal, but not a third time for a change', async () => {
    const world = await known()
    const secret = 'whsec_added_after_it_was_remembered'
    await addElsewhere(world, secret)
    expect((await world.send(event, { secret })).status).toBe(401)
    advance(REREAD_EVERY)
    const seen: string[] = []
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 1) await patch(world, { name: 'Renamed' })
      seen.push(/^select/i.test(trip.sql) ? 'read' : 'write')
      return trip.run()
    })
    const bindings = { DB }
    expect(await world.send(event, { secret, bindings })).toMatchObject({ status: 503 })
    expect(seen).toEqual(['read', 'write'])
    expect((await world.send(event, { secret, bindings })).status).toBe(200)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('gives up, 503, on one that changes under both passes', async () => {
    const world = await known()
    let n = 0
    const DB = tamperedD1(async (trip) => {
      if (trip.sql.includes('INSERT INTO "events"')) await patch(world, { name: `name ${n++}` })
      return trip.run()
    })
    const { status, headers } = await world.send(event, { bindings: { DB } })
    expect([status, n]).toEqual([503, 2])
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await stored(world.project)).toHaveLength(1)
  })

  it.each([
    ['is not what was sealed', "json_set(secrets, '$[0].box', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')"],
    ['is no base64', "json_set(secrets, '$[0].box', '?')"],
    ['is under a key that is not there', "json_set(secrets, '$[0].key', 99)"],
    ['is gone', "'[]'"],
  ])('fails closed when its secret %s', async (_, secrets) => {
    const log = captureLog()
    const world = await newWorld()
    await rows(`UPDATE connections SET secrets = ${secrets} WHERE id = ?`, world.connection.id)
    // Of a secret that is there but cannot be read, nobody can say that the vendor signed with another.
    const [status, code] = secrets === "'[]'" ? [401, 'signature_mismatch'] : [503, 'encryption_key_unavailable']
    expect(await world.send(event)).toMatchObject({ status, body: { code } })
    expect(await stored(world.project)).toEqual([])
    if (secrets !== "'[]'") expect(log.of('secret_not_readable').length).toBeGreaterThan(0)
  })
})
