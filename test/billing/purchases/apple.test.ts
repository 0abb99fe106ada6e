import { describe, expect, it } from 'vitest'
import { setClock, stopClock } from '../../clock'
import { APPLE_TOKEN, appleBought, inSandbox, ms } from '../payloads-apple'
import type { Fields } from '../payloads-more'
import { shuffled } from '../shuffle'
import { vendorWorld } from '../vendor-world'
import type { Shown } from '../world'

/* What is bought once in the App Store: what it gives, and what is taken back. */

const bought = appleBought('ONE_TIME_CHARGE', { type: 'Non-Consumable', quantity: 1, price: 49_990 })
const of = (type: string, day: number, more: Fields = {}) =>
  appleBought(type, { type: 'Non-Consumable', quantity: 1, price: 49_990, ...more }, day)

async function sellingWorld() {
  stopClock(ms(0))
  const world = await vendorWorld('apple')
  await world.consumers.put(APPLE_TOKEN)
  await world.catalog.feature('sso')
  const prices = [{ vendor: 'apple', ref: 'com.example.coins', lasts: 'forever' }]
  await world.catalog.plan({ key: 'life', name: 'Life', rank: 1, prices, features: { sso: { value: true } } })
  /** What the consumer may do after an event. */
  const allowedBy = async (event: Fields) => {
    setClock(event.signedDate as number)
    expect((await world.tell(event)).status).toBe('processed')
    const { allowed, reason } = (await world.one(`ext:${APPLE_TOKEN}`)).features.sso ?? {}
    return [allowed, reason]
  }
  return { ...world, allowedBy }
}

describe('a purchase in the App Store', () => {
  it('gives its plan until it is taken back, and again when that is reversed', async () => {
    const { allowedBy } = await sellingWorld()
    expect(await allowedBy(bought)).toEqual([true, 'plan'])
    expect(await allowedBy(of('CONSUMPTION_REQUEST', 1))).toEqual([true, 'plan'])
    const part = { revocationDate: ms(2), revocationType: 'REFUND_PRORATED', revocationPercentage: 20_000 }
    expect(await allowedBy(of('REFUND', 2, part))).toEqual([true, 'plan'])
    expect(await allowedBy(of('REFUND', 3, { revocationDate: ms(3) }))).toEqual([false, 'refunded'])
    expect(await allowedBy(of('REFUND_REVERSED', 4))).toEqual([true, 'plan'])
    expect(await allowedBy(of('REFUND', 5, { revocationDate: ms(5) }))).toEqual([false, 'refunded'])
  })

  it('ends when the family shares it no more, though no money goes back', async () => {
    const { allowedBy, api } = await sellingWorld()
    const shared = { inAppOwnershipType: 'FAMILY_SHARED' }
    expect(await allowedBy(of('ONE_TIME_CHARGE', 0, shared))).toEqual([true, 'plan'])
    expect(await allowedBy(of('REVOKE', 1, { ...shared, revocationDate: ms(1) }))).toEqual([false, 'refunded'])
    expect((await api<Shown>('/purchases/2000009')).body).toMatchObject({ status: 'paid', refunded_amount: 0 })
  })

  it('counts for nothing in the sandbox', async () => {
    const { allowedBy } = await sellingWorld()
    expect(await allowedBy(inSandbox(bought))).toEqual([false, 'test_mode'])
  })

  it('is the same in every order of its events, the sale last too', async () => {
    const events = [
      bought,
      of('REFUND', 1, { revocationDate: ms(1), revocationReason: 1 }),
      of('REFUND_REVERSED', 2),
      of('REFUND', 3, { revocationDate: ms(3), revocationPercentage: 50_000, revocationType: 'REFUND_PRORATED' }),
    ]
    const ends = []
    for (const order of [events, events.toReversed(), shuffled(events), shuffled(events)]) {
      const { tell, api } = await vendorWorld('apple')
      for (const event of [...order, ...order.slice(0, 2)]) await tell(event)
      const { source_event_id: _, consumer_id: __, refunds, ...shown } = (await api<Shown>('/purchases/2000009')).body
      ends.push({ ...shown, refunds: (refunds as Shown[]).map(({ event_id: _, ...refund }) => refund) })
    }
    expect(ends[0]).toMatchObject({
      status: 'partially_refunded',
      refunded_amount: 2500,
      total: 4999,
      ambiguous: false,
    })
    for (const end of ends) expect(end).toEqual(ends[0])
  })
})
