import { beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../../src/db/client'
import { type Env, openRuntime } from '../../../src/env'
import { findSourceKeyOf, findSourceKeys, openSourceKey } from '../../../src/inbox/refresh/keys'
import { markRefused, openVendorKey } from '../../../src/inbox/vendor-api/keys'
import { MINUTE } from '../../../src/lib/time'
import { bound, captureConsole, newPaddleAccount, newStripeAccount, STORE_NUMBER, storedText } from '../../harness'
import { advance, cron, newWorld, only, rows, stopClock, type World } from '../pipeline'

/*
 * Keys as those who fetch use them, their encryption, and that no key is found anywhere.
 */

beforeEach(() => {
  stopClock()
})

const runtime = (bindings: Partial<Env> = {}) => {
  const rt = openRuntime({ ...bound, ...bindings } as Env, { waitUntil: () => {} }).at(STORE_NUMBER)
  if (!rt) throw new Error('the store of the tests is not bound')
  return rt
}
const pathOf = (connection: { id: string }) => `/connections/${connection.id}/api-key`
const put = ({ api }: World, connection: { id: string }, api_key: string, bindings: Partial<Env> = {}) =>
  api(pathOf(connection), { method: 'PUT', json: { api_key }, bindings })

/** The key of a connection, in whatever state it is; null if there is none. */
async function readVendorKey(rt: ReturnType<typeof runtime>, project: string, connection: string) {
  const [row] = await run(rt.db, findSourceKeyOf(rt.db, project, connection))
  return row ? openVendorKey(rt, row, 'waited') : null
}

/** The keys of a vendor that can be used. */
async function usableKeys(rt: ReturnType<typeof runtime>, project: string, vendor: string) {
  const rows = await run(rt.db, findSourceKeys(rt.db, project, vendor))
  return (await Promise.all(rows.map((row) => openSourceKey(rt, row, 'waited')))).filter((key) => key !== null)
}

/** A world with a key. */
async function newKeyed() {
  const world = await newWorld()
  const key = await newStripeAccount()
  expect((await put(world, world.connection, key)).status).toBe(200)
  return { ...world, apiKey: key }
}

describe('a key in use', () => {
  it('is read with its API, by its connection or with all of its vendor', async () => {
    const { api, project, connection, apiKey } = await newKeyed()
    const json = { vendor: 'paddle', name: 'Paddle', livemode: true }
    const { body: paddle } = await api('/connections', { method: 'POST', json })
    const paddleKey = await newPaddleAccount()
    await api(pathOf(paddle), { method: 'PUT', json: { api_key: paddleKey } })
    const rt = runtime()
    const read = await readVendorKey(rt, project, connection.id)
    expect(read).toMatchObject({
      secret: apiKey,
      vendor: 'stripe',
      api: { vendor: 'Stripe' },
      state: 'ok',
      livemode: true,
    })
    for (const [vendor, id, secret] of [
      ['stripe', connection.id, apiKey],
      ['paddle', paddle.id, paddleKey],
    ] as const) {
      const [key, ...more] = await usableKeys(rt, project, vendor)
      expect(more).toEqual([])
      expect(key).toMatchObject({ connection_id: id, secret, vendor })
    }
    expect(await usableKeys(rt, project, 'polar')).toEqual([])
  })

  it('is not found in another project, or without one', async () => {
    const { connection } = await newKeyed()
    const other = await newWorld()
    expect(await readVendorKey(runtime(), other.project, connection.id)).toBeNull()
    expect(await readVendorKey(runtime(), other.project, other.connection.id)).toBeNull()
  })

  it('that the vendor refuses is marked, until it is set again; a newer one is not', async () => {
    const world = await newKeyed()
    const { api, project, connection, apiKey } = world
    const rt = runtime()
    const state = async () => (await api(pathOf(connection))).body.state
    const used = await readVendorKey(rt, project, connection.id)
    if (!used) throw new Error('there is no key')
    await markRefused(rt.db, used)
    expect(await state()).toBe('refused')
    expect(await usableKeys(rt, project, 'stripe')).toEqual([])
    expect(await readVendorKey(rt, project, connection.id)).toMatchObject({ state: 'refused' })
    expect((await put(world, connection, apiKey)).body.state).toBe('ok')
    await markRefused(rt.db, used)
    expect(await state()).toBe('ok')
  })

  it('cannot be read where it was not set, or once its encryption key is gone', async () => {
    const { project, connection } = await newKeyed()
    const other = await newKeyed()
    const lost = runtime({ ENCRYPTION_KEY_1: btoa('x'.repeat(32)) } as Partial<Env>)
    await expect(readVendorKey(lost, project, connection.id)).rejects.toMatchObject({
      fault: 'encryption_key_unavailable',
    })
    await rows(
      'UPDATE vendor_keys SET box = (SELECT box FROM vendor_keys WHERE connection_id = ?) WHERE connection_id = ?',
      other.connection.id,
      connection.id,
    )
    const read = readVendorKey(runtime(), project, connection.id)
    await expect(read).rejects.toMatchObject({ fault: 'encryption_key_unavailable' })
  })

  it('is not set with an encryption key that opens nothing', async () => {
    const world = await newKeyed()
    const bindings = { ENCRYPTION_KEY_1: btoa('y'.repeat(32)) } as Partial<Env>
    const { status, body } = await put(world, world.connection, await newStripeAccount(), bindings)
    expect([status, body.code]).toEqual([503, 'encryption_key_unavailable'])
  })
})

it('A key moves to a newer encryption key, and works with it; health counts it until then', async () => {
  await rows('DELETE FROM connections')
  await rows("DELETE FROM state WHERE name = 'sealed_under'")
  const { api, queue, project, connection, apiKey } = await newKeyed()
  const keys = { ENCRYPTION_KEY_1: bound.ENCRYPTION_KEY_1 as string, ENCRYPTION_KEY_2: btoa('2'.repeat(32)) }
  const left = async (bindings: object) => (await api('/webhooks/health', { bindings })).body.secrets_to_reseal
  // The signing secret of the connection counts too.
  expect([await left({}), await left(keys)]).toEqual([0, 2])
  for (let run = 0; run < 5; run++) {
    await cron({ ...keys, EVENTS: queue.EVENTS })
    advance(MINUTE)
  }
  expect(await only(rows('SELECT key FROM vendor_keys WHERE project_id = ?', project))).toEqual({ key: 2 })
  expect(await left(keys)).toBe(0)
  const rt = runtime({ ...keys, ENCRYPTION_KEY_1: btoa('x'.repeat(32)) } as Partial<Env>)
  expect(await readVendorKey(rt, project, connection.id)).toMatchObject({ secret: apiKey })
})

it.each([
  ['stripe', newStripeAccount],
  ['paddle', newPaddleAccount],
] as const)('A key of %s is found in no table, value, log line, answer or error', async (vendor, open) => {
  const world = await newWorld()
  const { body: connection } = await world.api('/connections', {
    method: 'POST',
    json: { vendor, name: vendor, livemode: true },
  })
  const logged = captureConsole()
  const key = await open()
  const answers = [await put(world, connection, key)]
  // A vendor that says the key wherever it can, with each status.
  const error = { code: key, type: key, message: key, detail: key }
  const spoken = JSON.stringify({
    error,
    data: { api: { environment: key }, caller: { account: key, permissions: [key] } },
  })
  for (const status of [200, 302, 400, 401, 403, 404, 429, 500]) {
    await open({ fail: { status, body: spoken } }, key)
    answers.push(await put(world, connection, key))
  }
  const root = { api: { environment: 'production' }, caller: { account: key, permissions: [key, `${key}.write`] } }
  await open({ fail: { status: 200, body: JSON.stringify({ data: root }) } }, key)
  answers.push(await put(world, connection, key))
  await open({}, key)
  answers.push(await put(world, connection, key))
  answers.push(await put(world, connection, `${key}\n`))
  answers.push(await world.api(pathOf(connection)))
  answers.push(await world.api(`/connections/${connection.id}`))
  const rt = runtime()
  expect(await readVendorKey(rt, world.project, connection.id)).toMatchObject({ secret: key })
  const broken = { ENCRYPTION_KEY_1: btoa('z'.repeat(32)) } as Partial<Env>
  answers.push(await put(world, connection, key, broken))
  const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
  expect(logged.filter((line) => line.includes('vendor_call')).length).toBeGreaterThan(8)
  expect(places.storage).toContain(`"hint":"${key.slice(-4)}"`) // What is stored is in the text.
  // A part of the key is as harmful as the whole.
  for (const part of [key, key.slice(-24), key.slice(12, 36)])
    for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
})
