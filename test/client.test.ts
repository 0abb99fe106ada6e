import { describe, expect, expectTypeOf, it } from 'vitest'
import { client, deliver, freshProject, lossyQueue, STRIPE_SECRET, stripeEvent } from './harness'

/** The typed client, `hc<App>()`: its types are checked by the compiler, its answers here. */
describe('the typed client', () => {
  it('takes a key from mint to revocation', async () => {
    const { project, owner } = await freshProject()
    const keys = client(owner.token, project).platform.v1['api-keys']
    const minted = await keys.$post({ json: { name: 'typed' } })
    expect(minted.status).toBe(201)
    const { key, secret } = await minted.json()
    expectTypeOf(secret).toEqualTypeOf<string>()
    expectTypeOf(key.last_used_at).toEqualTypeOf<string | null>()
    expect(key).toMatchObject({ name: 'typed', last_used_at: null })

    const self = await client(secret, project).platform.v1['api-keys'].self.$get()
    expect((await self.json()).key.id).toBe(key.id)

    const rotated = await keys[':id'].rotate.$post({ param: { id: key.id } })
    expect((await rotated.json()).key.id).toBe(key.id)
    expect((await client(secret, project).platform.v1['api-keys'].$get({ query: {} })).status).toBe(401)

    const listed = await (await keys.$get({ query: { limit: '5' } })).json()
    expectTypeOf(listed.has_more).toEqualTypeOf<boolean>()
    expect(listed.data.map(({ id }) => id)).toEqual([key.id])
    expect((await keys[':id'].$delete({ param: { id: key.id }, query: {} })).status).toBe(204)
  })

  it('takes an event from its connection to its replay', async () => {
    const { project, owner } = await freshProject()
    const { billing } = client(owner.token, project).platform.v1
    const created = await billing.connections.$post({
      json: { vendor: 'stripe', name: 'typed', livemode: true, signing_secret: STRIPE_SECRET },
    })
    const connection = await created.json()
    expect(connection.secrets).toHaveLength(1)
    await deliver(connection.id, stripeEvent('customer.updated'), { bindings: { EVENTS: lossyQueue().EVENTS } })
    const found = await billing.webhooks.search.$get({
      query: { event_type: ['customer.*', 'nothing'], limit: '1' },
    })
    const [event] = (await found.json()).data
    expect(event?.event_type).toBe('customer.updated')
    const replay = await billing.webhooks[':event_id'].replay.$post({ param: { event_id: event?.id ?? '' }, query: {} })
    if (replay.status !== 202) throw new Error(`answered ${replay.status}`)
    expect((await replay.json()).replay.deduplicated).toBe(true)
  })
})
