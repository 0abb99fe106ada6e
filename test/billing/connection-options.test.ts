import { describe, expect, it } from 'vitest'
import { setClock, stopClock } from '../clock'
import * as p from './payloads-more'
import { STORIES } from './vendor-stories'
import { vendorWorld } from './vendor-world'

describe.each(STORIES.filter(({ test }) => !test))('$vendor, whose events do not say the mode', (story) => {
  const { vendor, consumer, refs } = story
  const [first, second] = story.lines.filter(([, payload, reason]) => payload !== null && reason === 'plan')
  const [day = 0, started] = first ?? []

  it.each([
    [true, { allowed: true, reason: 'plan' }],
    [false, { allowed: false, reason: 'test_mode' }],
  ])('a subscription is in the mode of the connection: livemode %s', async (livemode, answer) => {
    stopClock(Date.parse(p.at(day)))
    const world = await vendorWorld(vendor, { livemode })
    await world.consumers.put(consumer)
    await world.catalog.feature('sso')
    const prices = refs.map((ref) => ({ vendor, ref }))
    await world.catalog.plan({ key: 'pro', name: 'Pro', rank: 1, prices, features: { sso: { value: true } } })
    await world.tell(started)
    expect((await world.one(`ext:${consumer}`)).features.sso).toMatchObject(answer)
    const { body } = await world.api<{ data: { livemode: boolean }[] }>('/subscriptions')
    expect(body.data.map((row) => row.livemode)).toEqual([livemode])
  })

  it('a changed mode applies from the next event on', async () => {
    stopClock(Date.parse(p.at(day)))
    const world = await vendorWorld(vendor)
    await world.tell(started)
    const shown = async () => {
      const { body } = await world.api<{ data: { livemode: boolean }[] }>('/subscriptions')
      return body.data.map((row) => row.livemode)
    }
    expect(await shown()).toEqual([true])
    const change = { json: { livemode: false } }
    expect((await world.ask('PATCH', `/billing/connections/${world.connection.id}`, change)).status).toBe(200)
    expect(await shown()).toEqual([true])
    setClock(Date.parse(p.at(second?.[0] ?? 0)))
    await world.tell(second?.[1])
    expect(await shown()).toEqual([false])
  })
})

describe('customer_is_external_id', () => {
  const subscription = (customer_id: string) => {
    const content = {
      subscription: p.chargebeeSubscription({ customer_id }),
      customer: p.chargebeeCustomer({ id: customer_id, meta_data: { consumer_external_id: 'somebody_else' } }),
    }
    return p.chargebeeEvent('subscription_created', content)
  }
  const linkOf = async (world: Awaited<ReturnType<typeof vendorWorld>>, customer: string) =>
    (await world.ask<{ consumer: { external_id: string } | null }>('GET', `/billing/customers/chargebee/${customer}`))
      .body

  it('links a customer to the consumer with its id, whatever metadata says', async () => {
    const world = await vendorWorld('chargebee', { customer_is_external_id: true })
    await world.consumers.put('user_1')
    await world.consumers.put('somebody_else')
    await world.tell(subscription('user_1'))
    expect(await linkOf(world, 'user_1')).toMatchObject({ external_id: 'user_1' })
    // Off again: metadata counts, for the next event.
    const { status } = await world.ask('PATCH', `/billing/connections/${world.connection.id}`, {
      json: { customer_is_external_id: false },
    })
    expect(status).toBe(200)
    await world.tell(subscription('user_2'))
    expect(await linkOf(world, 'user_2')).toMatchObject({ external_id: 'somebody_else' })
  })

  it('links nobody by an id that cannot be an external id', async () => {
    const world = await vendorWorld('chargebee', { customer_is_external_id: true })
    expect((await world.tell(subscription('csm_1'))).status).toBe('processed')
    expect(await linkOf(world, 'csm_1')).toMatchObject({ external_id: null })
  })

  it.each(['POST', 'PATCH'])('%s is refused for a vendor that makes the ids itself', async (method) => {
    const world = await vendorWorld('polar')
    const json = { customer_is_external_id: true }
    const answer =
      method === 'PATCH'
        ? await world.ask('PATCH', `/billing/connections/${world.connection.id}`, { json })
        : await world.ask('POST', '/billing/connections', {
            json: { vendor: 'stripe', name: 'S', livemode: true, ...json },
          })
    expect([answer.status, answer.body]).toMatchObject([422, { errors: [{ pointer: '/customer_is_external_id' }] }])
  })
})
