import { expect, it } from 'vitest'
import { stripeEventOf, stripeSubscription } from '../../billing/payloads'
import { billingWorld } from '../../billing/world'
import { changeAccount, stripeObjects } from '../../harness'
import { importWorld } from './world'

/** How long the events of a new project waited that arrive now, by its own figures (ms). */
async function lagNow() {
  const { send, queue, api } = await billingWorld()
  for (let i = 0; i < 10; i++) await send(stripeEventOf('customer.subscription.created', stripeSubscription()))
  await queue.pump()
  const { received, processed, p95_ms } = (await api('/webhooks/health')).body.last_5m
  expect({ received, processed }).toEqual({ received: 10, processed: 10 })
  return p95_ms as number
}

it('the events of another project do not wait for an import of a vendor that hangs', async () => {
  const world = await importWorld(stripeObjects(250))
  const alone = await lagNow()
  await world.start()
  await changeAccount(world.apiKey, { hang: true })
  let isDone = false
  const hanging = world.page().then(() => {
    isDone = true
  })
  while ((await world.asked()).length === 0) await scheduler.wait(5)
  const beside = await lagNow()
  expect(isDone).toBe(false)
  console.log(`95 % of events waited at most ${alone} ms alone, and ${beside} ms beside the import`)
  await hanging
})
