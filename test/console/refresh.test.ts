import { expect, it } from 'vitest'
import { stripeSubscription } from '../billing/payloads'
import { addMember, changeAccount, LIMIT_REACHED } from '../harness'
import { CUSTOMER, refreshWorld } from '../inbox/refresh/world'
import { told } from './member-pages'
import { submit, visit } from './visit'

it('a customer can be refreshed from its page, which says what came of it', async () => {
  const subscription = stripeSubscription()
  const world = await refreshWorld([CUSTOMER, subscription])
  await world.refresh()
  const path = `/console/p/${world.project}/platform/billing/customers/stripe/${CUSTOMER.id}`
  const { token } = world.owner
  const shown = (await visit(path, token)).text
  expect(shown).toContain(`action="${path}/refresh"`)
  expect(shown).toContain('/platform/billing/webhooks/ftc_')
  const button = () => told(submit(`${path}/refresh`, token))
  expect(await button()).toMatchObject({ status: 303, location: `${path}?done=customer_refreshed` })
  await world.letTimePass()
  await changeAccount(world.apiKey, { refused: ['invoices'] })
  expect(await button()).toMatchObject({ location: `${path}?done=customer_refreshed_partly` })
  await world.letTimePass()
  await changeAccount(world.apiKey, { fail: { status: 500 } })
  expect(await button()).toMatchObject({ location: `${path}?done=customer_not_refreshed` })
  // Who may only read has no button, and neither has a customer of a vendor without a key.
  const viewer = await addMember(world.project, 'viewer')
  expect((await visit(path, viewer.token)).text).not.toContain('/refresh"')
  const remove = { method: 'DELETE' }
  expect((await world.api(`/connections/${world.connection.id}/api-key`, remove)).status).toBe(204)
  expect((await visit(path, token)).text).not.toContain('/refresh"')
})

it('over the limit of refreshes, the button is refused, and the vendor is not asked', async () => {
  const world = await refreshWorld([CUSTOMER, stripeSubscription()])
  await world.refresh()
  await world.letTimePass()
  const before = (await world.asked()).length
  const path = `/console/p/${world.project}/platform/billing/customers/stripe/${CUSTOMER.id}`
  const bindings = { LIMIT_REFRESH: LIMIT_REACHED }
  expect((await submit(`${path}/refresh`, world.owner.token, {}, { bindings })).status).toBe(429)
  expect(await world.asked()).toHaveLength(before)
})
