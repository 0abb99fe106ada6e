import { beforeEach, describe, expect, it } from 'vitest'
import { at } from '../../billing/payloads-more'
import { setClock } from '../../clock'
import { captureConsole, changeAccount, storedText } from '../../harness'
import { stopClock } from '../pipeline'
import { setKey } from '../refresh/world'
import { BY_FETCH, type ByFetchWorld, byFetchWorld } from './by-fetch'
import { expectSound } from './sound'

/* Vendors whose events only name their objects: what they name is fetched. */

beforeEach(() => {
  stopClock(Date.parse(at(100)))
})

describe.each(BY_FETCH)('an event of $vendor', (of) => {
  const { vendor, subscription, event } = of

  it.each(of.lines)('leads to %s', async (_, object, { list, fields }) => {
    const world = await byFetchWorld(of, [object])
    const [id = ''] = await world.deliver(event(object, 'updated', 10))
    const [record] = await world.fetched()
    expect(await world.event(id)).toMatchObject({ status: 'processed', last_error: null, processing_attempts: 1 })
    expect(await world.effects(id)).toMatchObject([{ result: 'fetched', event_id: record?.id }])
    const shown = await world.shown(list, object.id)
    expect(shown).toMatchObject({ ...fields, vendor, livemode: true, ambiguous: false, source_event_id: record?.id })
    expect(shown.vendor_object).toEqual({ ...object, ...of.adds })
    await expectSound(world)
  })

  it('is one of several that one request answers', async () => {
    const object = subscription(3)
    const world = await byFetchWorld(of, [object])
    const ids = await world.deliver(...[1, 2, 3, 3].map((day) => event(object, 'updated', day, `of_day_${day}`)))
    for (const id of ids) expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect(new Set(ids).size).toBe(3)
    const project = world.apiKey.split(':')[0] ?? ''
    expect(await world.asked()).toEqual(of.paths.map((path) => path.replace('{project}', project)))
    expect(await world.fetched()).toHaveLength(1)
    await expectSound(world)
  })

  it.each([
    ['in order', [0, 1, 2, 3]],
    ['backwards', [3, 2, 1, 0]],
    ['doubled and mixed', [1, 0, 1, 3, 3, 2, 0]],
    ['late', [2, 3, 0, 1]],
  ])('converges with the others: %s', async (_, order) => {
    const states = of.states.map((fields, day) => subscription(day, fields))
    const world = await byFetchWorld(of, [subscription(0, of.states[0])])
    for (const [step, n] of order.entries()) {
      const now = states[Math.min(step, states.length - 1)]
      if (now) await world.change(now)
      await world.deliver(event(subscription(n), 'updated', n, `of_day_${n}`))
    }
    const settled = await byFetchWorld(of, states.slice(-1))
    await settled.deliver(event(subscription(3), 'updated', 3))
    const bodyOf = async ({ shown }: Pick<ByFetchWorld, 'shown'>) => {
      const { source_event_id: _, ...body } = await shown('subscriptions', subscription(0).id)
      return body
    }
    expect(await bodyOf(world)).toEqual(await bodyOf(settled))
    await expectSound(world)
  })

  it.each([
    ['401', { fail: { status: 401 } }, 'vendor_key_refused'],
    ['403', { refused: [of.reads] }, 'vendor_key_refused'],
    ['429', { fail: { status: 429, retry_after: '40' } }, 'vendor_failed'],
    ['500', { fail: { status: 500 } }, 'vendor_failed'],
    ['503', { fail: { status: 503 } }, 'vendor_failed'],
    ['400', { fail: { status: 400 } }, 'vendor_failed'],
    ['a page', { fail: { status: 200, body: '<html>' } }, 'vendor_failed'],
    ['nothing', { fail: { status: 200, body: '{}' } }, 'vendor_failed'],
    ['another object', { fail: { status: 200, body: '{"object":"account","id":"x"}' } }, 'vendor_failed'],
    ['a list of texts', { fail: { status: 200, body: '["x"]' } }, 'vendor_failed'],
  ] as [string, Parameters<typeof changeAccount>[1], string][])(
    'waits if the answer is %s',
    async (name, settings, code) => {
      const object = subscription(1)
      const world = await byFetchWorld(of, [object])
      await changeAccount(world.apiKey, settings)
      const [id = ''] = await world.deliver(event(object, 'updated', 1))
      expect(await world.event(id)).toMatchObject({ status: 'retrying', last_error_code: code })
      await changeAccount(world.apiKey, { fail: { status: 500, path: '/nowhere' }, refused: [] })
      if (name === '401') await setKey(world, world.connection.id, world.apiKey)
      await world.settle()
      expect(await world.event(id)).toMatchObject({ status: 'processed', last_error: null })
      expect(await world.shown('subscriptions', object.id)).toMatchObject({ status: 'active' })
      await expectSound(world)
    },
  )

  it('of an object that the account does not have is ignored', async () => {
    const world = await byFetchWorld(of)
    const [id = ''] = await world.deliver(event(subscription(1), 'updated', 1))
    expect(await world.event(id)).toMatchObject({ status: 'ignored' })
    expect(await world.effects(id)).toMatchObject([{ result: 'gone' }])
    expect(await world.fetched()).toEqual([])
    await expectSound(world)
  })

  it('without a key is ignored, which health tells, until a replay finds one', async () => {
    const object = subscription(1)
    const world = await byFetchWorld(of, [object], { key: false })
    const [id = ''] = await world.deliver(event(object, 'updated', 1))
    expect(await world.event(id)).toMatchObject({ status: 'ignored' })
    const findings = async () => JSON.stringify((await world.api('/webhooks/health')).body)
    expect(await findings()).toContain('receives thin events')
    await setKey(world, world.connection.id, world.apiKey)
    expect(await findings()).not.toContain('receives thin events')
    expect((await world.preview(id)).body).toMatchObject({ status: 'processed' })
    await world.replay(id, { bindings: world.bindings })
    await world.pump()
    expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect(await world.shown('subscriptions', object.id)).toMatchObject({ status: 'active' })
    await expectSound(world)
  })

  it('shows the key to nobody, even if the vendor says it in each error', async () => {
    const logged = captureConsole()
    const object = subscription(1)
    const world = await byFetchWorld(of, [object])
    const { api, apiKey } = world
    const answers: unknown[] = []
    for (const status of [302, 400, 403, 404, 429, 500, 401]) {
      const body = JSON.stringify({ error: { type: apiKey, code: apiKey, message: apiKey }, type: apiKey })
      await changeAccount(apiKey, { fail: { status, body, retry_after: apiKey } })
      const [id = ''] = await world.deliver(event(object, `of_${status}`, 1))
      answers.push(await world.event(id), await api(`/webhooks/${id}/attempts`))
      setClock(Date.now() + 60_000)
    }
    answers.push(await api('/webhooks/health'), await api(`/connections/${world.connection.id}/api-key`))
    const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
    expect(places.answers).toContain('vendor_key_refused')
    for (const part of [apiKey, btoa(`${apiKey}:`), apiKey.slice(-24)])
      for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
  })

  it('is not waited for by a refresh of the customer', async () => {
    const object = subscription(1)
    const world = await byFetchWorld(of, [object])
    const refreshed = await world.api(`/customers/${vendor}/${of.customer}/refresh`, { method: 'POST' })
    expect(refreshed).toMatchObject({ status: 200, body: { state: 'fresh', changed: true } })
    expect(await world.shown('subscriptions', object.id)).toMatchObject({ status: 'active', ambiguous: false })
    // The event that comes later has nothing new.
    const [id = ''] = await world.deliver(event(object, 'updated', 1))
    expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect(await world.fetched()).toHaveLength(of.refreshed)
    await expectSound(world)
  })

  it('imports nothing, and says so', async () => {
    const world = await byFetchWorld(of)
    const started = await world.api(`/connections/${world.connection.id}/imports`, { method: 'POST', json: {} })
    expect(started).toMatchObject({ status: 409, body: { code: 'api_key_missing' } })
    expect(started.body.detail).toContain('does not import')
  })

  const selling = async (livemode: boolean) => {
    const world = await byFetchWorld(of, [], { livemode })
    expect((await world.consumers.put(of.consumer)).status).toBeLessThan(300)
    await world.catalog.feature('sso')
    await world.catalog.feature('seats', { name: 'Seats', type: 'quantity' })
    const features = { sso: { value: true }, seats: { value: 1, per_seat: true } }
    const prices = [{ vendor, ref: of.ref }]
    expect((await world.catalog.plan({ key: 'pro', name: 'Pro', rank: 1, prices, features })).status).toBe(201)
    return world
  }

  it('tells a story of what its consumer may do', async () => {
    stopClock(Date.parse(at(0)))
    const world = await selling(true)
    for (const [n, [day, state, reason]] of of.story.entries()) {
      setClock(Date.parse(at(day, n)))
      if (state) {
        await world.change(subscription(day, state))
        await world.deliver(event(subscription(day), 'updated', day, `of_chapter_${n}`))
      }
      const { features } = await world.one(`ext:${of.consumer}`)
      const allowed = reason === 'plan'
      expect([day, features.sso, features.seats]).toEqual([
        day,
        expect.objectContaining({ allowed, reason }),
        expect.objectContaining({ allowed, reason, value: allowed ? of.seats : 0 }),
      ])
    }
  })

  it('counts for nothing in test mode', async () => {
    stopClock(Date.parse(at(3)))
    const world = await selling(false)
    const object = subscription(1, of.test)
    await world.change(object)
    await world.deliver(event(object, 'updated', 1))
    expect((await world.one(`ext:${of.consumer}`)).features.sso).toMatchObject({ allowed: false, reason: 'test_mode' })
  })
})
