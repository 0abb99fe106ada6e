import { beforeEach, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { stripeSubscription } from '../../billing/payloads'
import { captureConsole, changeAccount, storedText } from '../../harness'
import { advance, stopClock } from '../pipeline'
import { CUSTOMER, setKey } from '../refresh/world'
import { thinEvent, thinWorld } from '../thin/world'

beforeEach(() => {
  stopClock()
})

it('A key that is in use is found nowhere, even if the vendor says it in each error', async () => {
  const logged = captureConsole()
  const subscription = stripeSubscription()
  const world = await thinWorld([CUSTOMER, subscription])
  const { api, apiKey, connection, bindings } = world
  const body = JSON.stringify({ error: { code: apiKey, type: apiKey, message: apiKey } })
  const answers: unknown[] = []
  for (const status of [302, 400, 403, 404, 409, 429, 500, 401]) {
    await changeAccount(apiKey, { fail: { status, body, retry_after: apiKey } })
    answers.push(await world.api(`/customers/stripe/${CUSTOMER.id}/refresh`, { method: 'POST' }))
    const [id = ''] = await world.deliver(thinEvent(subscription))
    const path = `/connections/${connection.id}/imports`
    const started = await api(path, { method: 'POST', json: { kinds: ['customers'] }, bindings })
    await world.pump()
    answers.push(started, await world.event(id), await api(`/webhooks/${id}/attempts`), await api(path))
    await api(`${path}/${started.body.id}/cancel`, { method: 'POST', bindings })
    advance(60 * SECOND)
  }
  answers.push(await api('/webhooks/health'), await api(`/connections/${connection.id}/api-key`))
  await changeAccount(apiKey, { fail: { status: 500, path: '/nowhere' } })
  await setKey(world, connection.id, apiKey)
  await world.settle()
  expect((await world.one('subscriptions', subscription.id as string)).status).toBe('active')
  const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
  // Each of them was told of the failures.
  expect(places.answers).toContain('vendor_refused')
  expect(places.answers).toContain('vendor_key_refused')
  expect(logged.filter((line) => line.includes('vendor_call')).length).toBeGreaterThan(20)
  for (const part of [apiKey, apiKey.slice(-24), apiKey.slice(12, 36)])
    for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
})
