import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { beforeEach, describe, expect, it } from 'vitest'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import type { StoredSecret } from '../../../src/inbox/connections/schema'
import { HOUR, MINUTE } from '../../../src/lib/time'
import { bound, call, lossyQueue, STRIPE_SECRET, signStripe, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  expectConsistent,
  LOST,
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

const create = ({ api }: Pick<World, 'api'>) =>
  api('/connections', {
    method: 'POST',
    json: { vendor: 'stripe', name: 'Stripe', livemode: true, signing_secret: STRIPE_SECRET },
  })
const storedSecrets = async (id: string): Promise<StoredSecret[]> =>
  JSON.parse((await only(rows<{ secrets: string }>('SELECT secrets FROM connections WHERE id = ?', id))).secrets)

describe('the rotation of the encryption key', () => {
  const [KEY_1, KEY_2] = [bound.ENCRYPTION_KEY_1 as string, btoa('2'.repeat(32))]
  const both = (): Partial<Env> => ({ ENCRYPTION_KEY_1: KEY_1, ENCRYPTION_KEY_2: KEY_2 })
  /** What a deployment without the first key finds. */
  const secondAlone = () => {
    const { ENCRYPTION_KEY_1: _, ...rest } = { ...bound, ...both() }
    return { ...rest, EVENTS: lossyQueue().EVENTS } as Env
  }
  /** Other tests left connections in the same database: enough runs for all of them. */
  const runCron = async (world: World) => {
    for (let run = 0; run < 5; run++) await cron({ ...both(), EVENTS: world.queue.EVENTS })
  }
  const left = async ({ api }: World, bindings: Partial<Env>) =>
    (await api('/webhooks/health', { bindings })).body.secrets_to_reseal as number
  /** Whether any store may still have secrets under an older key: what an operator waits for. */
  const isPending = async () => {
    const token = 'a token of an operator, of 32 characters or more'
    const bindings = { ...both(), METRICS_TOKEN: token }
    const { text } = await call('/metrics', { headers: { Authorization: `Bearer ${token}` }, bindings })
    const isPending = [...text.matchAll(/^platform_reseal_pending\{store="\d+"\} (\d)$/gm)].some(
      ([, value]) => value === '1',
    )
    // Whoever has no METRICS_TOKEN sees it too.
    expect((await call('/healthz', { bindings: both() })).body.reseal_pending).toBe(isPending)
    return isPending
  }

  it('is: add the next, let the cron re-encrypt, remove the old; deliveries verify all the way', async () => {
    const world = await newWorld()
    const add = (n: number, bindings: Partial<Env>) =>
      world.api(`/connections/${world.connection.id}/secrets`, {
        method: 'POST',
        json: { signing_secret: `whsec_secret_number_${n}` },
        bindings,
      })
    await add(1, {})
    expect(await left(world, {})).toBe(0)
    // With key 2 there, it is what encrypts; nothing stops verifying.
    await add(2, both())
    expect((await storedSecrets(world.connection.id)).map(({ key }) => key)).toEqual([1, 1, 2])
    expect([await left(world, both()), await isPending()]).toEqual([2, true])
    expect((await world.send(stripeEvent(), { bindings: both() })).status).toBe(200)
    const before = await storedSecrets(world.connection.id)
    const { version } = await only(
      rows<{ version: number }>('SELECT version FROM connections WHERE id = ?', world.connection.id),
    )
    await runCron(world)
    const after = await storedSecrets(world.connection.id)
    expect(after.map(({ key }) => key)).toEqual([2, 2, 2])
    expect(after.map(({ box: _, key: __, ...rest }) => rest)).toEqual(
      before.map(({ box: _, key: __, ...rest }) => rest),
    )
    expect([await left(world, both()), await isPending()]).toEqual([0, false])
    // The version stays: what isolates remember is still right.
    expect(await rows('SELECT version FROM connections WHERE id = ?', world.connection.id)).toEqual([{ version }])
    // Key 1 is gone, and so is what this isolate remembers.
    advance(2 * MINUTE)
    for (const secret of [STRIPE_SECRET, 'whsec_secret_number_1', 'whsec_secret_number_2']) {
      const body = JSON.stringify(stripeEvent())
      const headers = { 'Stripe-Signature': await signStripe(body, secret) }
      const ctx = createExecutionContext()
      const request = new Request(world.connection.ingest_url, { method: 'POST', body, headers })
      const response = await worker.fetch(request as never, secondAlone(), ctx)
      await waitOnExecutionContext(ctx)
      expect(response.status).toBe(200)
    }
    await settle(world)
    expect(await stored(world.project)).toHaveLength(4)
    await expectConsistent(world.project)
  })

  it('finds, within an hour, what a worker of the deployment before has sealed late', async () => {
    const world = await newWorld()
    await runCron(world)
    expect(await left(world, both())).toBe(0)
    await create(world)
    expect(await left(world, both())).toBe(1)
    advance(HOUR)
    await cron({ ...both(), EVENTS: world.queue.EVENTS })
    advance(MINUTE)
    await cron({ ...both(), EVENTS: world.queue.EVENTS })
    expect(await left(world, both())).toBe(0)
  })

  it('does not bring back a secret that is removed meanwhile, and seals the others in the next run', async () => {
    await rows('DELETE FROM connections')
    const world = await newWorld()
    await runCron(world)
    const path = `/connections/${world.connection.id}/secrets`
    const json = { signing_secret: 'whsec_secret_that_stays' }
    await world.api(path, { method: 'POST', json })
    const [gone, stays] = await storedSecrets(world.connection.id)
    await rows("DELETE FROM state WHERE name = 'sealed_under'")
    let removals = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      const results = await run()
      if (removals > 0 || !/order by "connections"."id" asc/i.test(sql)) return results
      removals += 1
      const removed = await world.api(`${path}/${gone?.id}`, { method: 'DELETE' })
      expect(removed.status).toBe(204)
      return results
    })
    await cron({ ...both(), DB, EVENTS: world.queue.EVENTS })
    expect(removals).toBe(1)
    expect(await storedSecrets(world.connection.id)).toMatchObject([{ id: stays?.id, key: 1 }])
    await cron({ ...both(), EVENTS: world.queue.EVENTS })
    expect(await storedSecrets(world.connection.id)).toMatchObject([{ id: stays?.id, key: 2 }])
  })

  it('says in the log that the database did not take a secret, and seals it within an hour', async () => {
    await rows('DELETE FROM connections')
    const log = captureLog()
    const world = await newWorld()
    await rows("DELETE FROM state WHERE name = 'sealed_under'")
    let refused = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      if (!/^update "connections" set "secrets"/i.test(sql)) return run()
      refused += 1
      throw new Error(LOST)
    })
    await cron({ ...both(), DB, EVENTS: world.queue.EVENTS })
    expect(refused).toBe(1)
    expect(log.of('secret_not_resealed')).toMatchObject([{ id: world.connection.id }])
    expect(log.of('resealed')).toMatchObject([{ rows: 0, failed: 1 }])
    advance(HOUR)
    await runCron(world)
    expect(await storedSecrets(world.connection.id)).toMatchObject([{ key: 2 }])
  })

  it('leaves alone, and says in the log, a secret that no key opens', async () => {
    const log = captureLog()
    const world = await newWorld()
    const lost = await create(world)
    await rows("UPDATE connections SET secrets = json_set(secrets, '$[0].key', 7) WHERE id = ?", lost.body.id)
    await rows("DELETE FROM state WHERE name = 'sealed_under'")
    const before = await storedSecrets(lost.body.id)
    await runCron(world)
    expect(await storedSecrets(lost.body.id)).toEqual(before)
    expect((await storedSecrets(world.connection.id)).map(({ key }) => key)).toEqual([2])
    expect(log.of('secret_not_resealed')).toContainEqual(
      expect.objectContaining({ column: 'connections.secrets', id: lost.body.id }),
    )
    expect(await left(world, both())).toBe(1)
  })
})
