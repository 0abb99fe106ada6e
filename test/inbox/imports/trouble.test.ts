import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { changeAccount, stripeObjects } from '../../harness'
import type { Account } from '../../outside/account'
import { advance, rows, stopClock } from '../pipeline'
import { brief, type ImportWorld, importWorld, state } from './world'

beforeEach(() => {
  stopClock()
})

const CREATED = 1_790_000_000
const OBJECTS = stripeObjects(250, CREATED)
const ALL = { customers: 'done 250 250 0', subscriptions: 'done 250 250 0' }
const ASKED = { kinds: ['customers', 'subscriptions'] }
const NOWHERE = { status: 500, path: '/nowhere' }

/** What the vendor does in the middle of an import, and how the import says so. */
const PASSING: [name: string, settings: Partial<Account>, says: object, waits: number][] = [
  [
    'answers 429 with Retry-After',
    { fail: { status: 429, times: 1, retry_after: '30' } },
    { state: 'waiting', error: 'rate_limited' },
    30,
  ],
  [
    'answers 429 without Retry-After',
    { fail: { status: 429, times: 2 } },
    { state: 'waiting', error: 'rate_limited' },
    2,
  ],
  ['answers 500', { fail: { status: 500, times: 1 } }, { state: 'waiting', error: 'vendor_unavailable' }, 2],
  [
    'answers with half a page',
    { fail: { status: 200, times: 1, body: '{"object":"list","data":[{"id":"cus_' } },
    { state: 'waiting', error: 'vendor_unavailable' },
    2,
  ],
  [
    'answers with a page that does not say whether there is more',
    { fail: { status: 200, times: 1, body: '{"data":[]}' } },
    { state: 'waiting', error: 'vendor_unavailable' },
    2,
  ],
  [
    'answers with more than is read',
    { fail: { status: 200, times: 1, body: `"${'x'.repeat(3_000_000)}"` } },
    { state: 'waiting', error: 'vendor_unavailable' },
    2,
  ],
]

describe('a vendor that', () => {
  it.each(PASSING)('%s is asked again later, and nothing is lost', async (_, settings, says, waits) => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    await world.page()
    advance(SECOND)
    await changeAccount(world.apiKey, settings)
    await world.page()
    const waiting = await world.read(id)
    expect(waiting).toMatchObject(says)
    expect(Date.parse(waiting.waiting_until ?? '') - Date.now()).toBe(waits * SECOND)
    expect(brief(waiting)).toMatchObject({ customers: 'running 100 100 0' })
    const done = await world.finish(id)
    expect(done).toMatchObject({ state: 'done', error: null, waiting_until: null })
    expect(brief(done)).toEqual(ALL)
  })

  it('cuts its pages is read to the last one', async () => {
    const world = await importWorld(OBJECTS, { page_most: 40 })
    const done = await world.finish(await world.start(ASKED))
    expect(brief(done)).toEqual(ALL)
    expect(await world.asked()).toHaveLength(14)
  })

  it.each([3, -3, null])('has a clock that is %s s off ends in the same rows', async (date_skew_s) => {
    const world = await importWorld(OBJECTS.slice(0, 50), { date_skew_s })
    await world.finish(await world.start())
    const usual = await importWorld(OBJECTS.slice(0, 50))
    await usual.finish(await usual.start())
    expect(await state(world.project)).toEqual(await state(usual.project))
  })

  it('refuses the key ends the import, which goes on with another one', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    await world.page()
    advance(SECOND)
    await changeAccount(world.apiKey, { fail: { status: 401 } })
    await world.page()
    expect(await world.read(id)).toMatchObject({
      state: 'failed',
      error: 'api_key_refused',
      finished_at: expect.any(String),
    })
    expect((await world.api(`/connections/${world.from}/api-key`)).body.state).toBe('refused')
    expect(await world.post()).toMatchObject({ status: 409, body: { code: 'api_key_missing' } })
    await changeAccount(world.apiKey, { fail: NOWHERE })
    await setAgain(world)
    const next = await world.start(ASKED)
    expect(await world.read(next)).toMatchObject({ continues: id })
    expect(brief(await world.finish(next))).toEqual(ALL)
  })

  it('does not let the key read a kind: the others are read', async () => {
    const world = await importWorld(OBJECTS, { refused: ['customers'] })
    const done = await world.finish(await world.start(ASKED))
    expect(done.state).toBe('done')
    expect(brief(done)).toEqual({ ...ALL, customers: 'permission_missing 0 0 0' })
  })

  it.each(['{}', '{"error":{"code":"resource_missing"}}'])(
    'finds the request wrong ends the import: %s',
    async (body) => {
      const world = await importWorld(OBJECTS)
      await changeAccount(world.apiKey, { fail: { status: 400, path: '/v1/customers', body } })
      expect(await world.finish(await world.start())).toMatchObject({ state: 'failed', error: 'vendor_refused' })
    },
  )

  it('gives the same page again is asked again later', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    const [last] = stripeObjects(1)
    const body = JSON.stringify({ data: [{ ...last, object: 'customer', id: 'cus_000001' }], has_more: true })
    await changeAccount(world.apiKey, { fail: { status: 200, body, times: 2 } })
    await world.page()
    advance(SECOND)
    await world.page()
    expect(await world.read(id)).toMatchObject({ state: 'waiting', error: 'vendor_unavailable' })
  })

  it('fails fifty times in a row ends the import', async () => {
    const world = await importWorld(OBJECTS)
    await changeAccount(world.apiKey, { fail: { status: 503, path: '/v1/customers' } })
    const id = await world.start()
    await world.page()
    await rows('UPDATE vendor_runs SET tries = 49, due_at = 0 WHERE id = ?', id)
    advance(2 * SECOND)
    await world.page()
    expect(await world.read(id)).toMatchObject({ state: 'failed', error: 'vendor_unavailable' })
  })

  it.each([1, 2, 3])('has deleted the last object of %s pages: the import goes on before them', async (pages) => {
    const world = await importWorld(stripeObjects(400, CREATED))
    const id = await world.start({ kinds: ['customers'] })
    for (let i = 0; i < 3; i++) {
      await world.page()
      advance(SECOND)
    }
    const gone = ['cus_000101', 'cus_000201', 'cus_000301'].slice(0, pages)
    const now = Object.fromEntries(stripeObjects(400, CREATED).map((one) => [one.id, one]))
    await changeAccount(world.apiKey, { objects: { ...now, ...Object.fromEntries(gone.map((one) => [one, null])) } })
    const done = await world.finish(id)
    expect(done.state).toBe('done')
    const known = await rows(
      "SELECT vendor_id FROM billing_objects WHERE project_id = ? AND kind = 'customer'",
      world.project,
    )
    expect(known).toHaveLength(400)
    expect(await world.fetched()).toHaveLength(400)
  })

  it('has lists inside objects that are cut: they are read to their end', async () => {
    const item = (n: number) => ({
      id: `si_x${n}`,
      object: 'subscription_item',
      price: { id: 'price_1', object: 'price' },
      quantity: 1,
    })
    const cut = OBJECTS.map((one) =>
      one.id === 'sub_000007' ? { ...one, items: Array.from({ length: 25 }, (_, n) => item(n)) } : one,
    )
    const world = await importWorld(cut)
    await world.finish(await world.start({ kinds: ['subscriptions'] }))
    const shown = await world.one('subscriptions', 'sub_000007')
    expect(shown).toMatchObject({ incomplete: false })
    expect(shown.items).toHaveLength(25)
  })
})

async function setAgain(world: ImportWorld) {
  const path = `/connections/${world.from}/api-key`
  expect((await world.api(path, { method: 'PUT', json: { api_key: world.apiKey } })).status).toBe(200)
}
