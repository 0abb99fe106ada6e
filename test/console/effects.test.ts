import { beforeAll, describe, expect, it } from 'vitest'
import { stripeEventOf, stripeItem, stripeSubscription, T0 } from '../billing/payloads'
import { as } from '../consumers/consumers'
import { eventWorld } from './event-world'

let here: Awaited<ReturnType<typeof eventWorld>>
beforeAll(async () => {
  here = await eventWorld()
})

/** Sends a state of a subscription. @param after seconds after the first one */
const sent = async (fields: Parameters<typeof stripeSubscription>[0], after = 0) => {
  const event = stripeEventOf('customer.subscription.updated', stripeSubscription(fields), { at: T0 + after })
  return here.send({ ...event, livemode: true })
}
const effectsOf = async (id: string) => /<ul class="effects".*?<\/section>/s.exec(await here.see(id))?.[0] ?? ''

describe('the effects of an event', () => {
  it('say a period once, where the subscription and its items have it', async () => {
    const until = (end: number) => ({
      items: { data: [stripeItem({ current_period_start: T0, current_period_end: end })], has_more: false },
    })
    await sent({ id: 'sub_p', ...until(T0 + 600) })
    const effects = await effectsOf(await sent({ id: 'sub_p', ...until(T0 + 1200) }, 60))
    expect(effects).toContain('Current period end:')
    expect(effects).not.toContain('Items:')
  })

  it('name the consumer that a customer is linked to, and lead to it', async () => {
    const id = await sent({ id: 'sub_l', customer: 'cus_l', metadata: { consumer_external_id: 'user_l' } })
    expect(await effectsOf(id)).toContain('The customer is not linked: no consumer has that external ID')
    const { body } = await as(here.project, here.owner.token).put('user_l', { name: 'Ada L.' })
    expect(await effectsOf(id)).toMatch(
      new RegExp(`The customer is linked to <a href="[^"]*/consumers/${body.id}">Ada L\\.</a></p>`),
    )
  })
})
