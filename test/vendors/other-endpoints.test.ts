import {
  createWebhook,
  deleteWebhook,
  lemonSqueezySetup,
  listWebhooks,
  updateWebhook,
} from '@lemonsqueezy/lemonsqueezy.js'
import { Polar } from '@polar-sh/sdk'
import { WebhookEventType } from '@polar-sh/sdk/models/components/webhookeventtype.js'
import Chargebee from 'chargebee'
import { expect, it } from 'vitest'
import lemonTypes from '../../node_modules/@lemonsqueezy/lemonsqueezy.js/dist/index.d.ts?raw'
import chargebeeTypes from '../../node_modules/chargebee/types/core.d.ts?raw'
import { chargebeeEndpoints } from '../../src/vendors/chargebee-endpoints'
import type { VendorEndpoints } from '../../src/vendors/endpoints'
import { lemonsqueezy } from '../../src/vendors/lemonsqueezy'
import { lemonsqueezyClaims } from '../../src/vendors/lemonsqueezy-claims'
import { lemonsqueezyEndpoints } from '../../src/vendors/lemonsqueezy-endpoints'
import { polar } from '../../src/vendors/polar'
import { polarEndpoints } from '../../src/vendors/polar-endpoints'
import { newChargebeeAccount, newLemonAccount, newPolarAccount, seenBy } from '../harness'

const URL_OF = 'https://api.example.com/ingest/con_1'
const WANTED = {
  livemode: true,
  name: '7',
  url: URL_OF,
  mark: { connection: 'con_1', secret: 'sec_1' },
  secret: 'user:password',
}
const MARKED = `${URL_OF}?endpoint=sec_1`

/** The requests that an account has received: method, path, and the fields of the body. */
async function requestsOf(key: string) {
  return (await seenBy(key)).map(({ method, url, body }) => [
    method,
    new URL(url).pathname.replace(/\/$/, ''),
    fields(body),
  ])
}

/** What we would send to create, change and remove an endpoint. */
function ours(api: VendorEndpoints, id: string, events: readonly string[]) {
  const wanted = { ...WANTED, events }
  return [api.create(wanted), api.change(id, { ...wanted, secret: null }), api.remove(id)].map(
    ({ method, pattern, body }) => [method, pattern.replace('{id}', id), fields(body?.text ?? '')],
  )
}

function fields(text: string): unknown {
  if (text === '') return null
  return text.startsWith('{') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
}

it("asks as Polar's own SDK does", async () => {
  const key = await newPolarAccount({ writes: true })
  const { webhooks } = new Polar({ accessToken: key })
  const own = {
    url: URL_OF,
    name: 'Platform API (con_1 sec_1)',
    format: 'raw' as const,
    events: ['order.paid' as const],
  }
  const { id } = await webhooks.createWebhookEndpoint(own)
  await webhooks.updateWebhookEndpoint({ id, webhookEndpointUpdate: { enabled: true, ...own } })
  const { result } = await webhooks.listWebhookEndpoints({ limit: 100, page: 1 })
  expect(result.items).toMatchObject([{ id, enabled: true }])
  await webhooks.deleteWebhookEndpoint({ id })
  const [create, change, list, remove] = await requestsOf(key)
  expect([create, change, remove]).toEqual(ours(polarEndpoints, id, ['order.paid']))
  expect(list).toEqual(['GET', polarEndpoints.list.pattern, null])
})

it("asks as Lemon Squeezy's own SDK does", async () => {
  const key = await newLemonAccount()
  lemonSqueezySetup({ apiKey: key })
  const own = { url: MARKED, events: ['subscription_created' as const] }
  const { data } = await createWebhook(7, { ...own, secret: WANTED.secret, testMode: false })
  const id = String(data?.data.id)
  await updateWebhook(id, own)
  expect((await listWebhooks({ filter: { storeId: 7 } })).data?.data).toMatchObject([
    { id, attributes: { url: MARKED } },
  ])
  await deleteWebhook(id)
  const [create, change, list, remove] = await requestsOf(key)
  expect([create, change, remove]).toEqual(ours(lemonsqueezyEndpoints, id, own.events))
  expect(list).toEqual(['GET', lemonsqueezyEndpoints.list.pattern, null])
})

it("asks as Chargebee's own SDK does", async () => {
  const key = await newChargebeeAccount({ writes: true })
  const { webhookEndpoint } = new Chargebee({ site: 'acme', apiKey: key })
  const own = { url: MARKED, enabled_events: ['invoice_updated' as const] }
  const basic = { basic_auth_username: 'user', basic_auth_password: 'password' }
  const made = await webhookEndpoint.create({ name: 'Platform API sec_1', api_version: 'v2', ...own, ...basic })
  const { id } = made.webhook_endpoint
  await webhookEndpoint.update(id, { disabled: false, ...own })
  expect((await webhookEndpoint.list({ limit: 100 })).list).toMatchObject([{ webhook_endpoint: { id, url: MARKED } }])
  await webhookEndpoint.delete(id)
  const [create, change, list, remove] = await requestsOf(key)
  expect([create, change, remove]).toEqual(ours(chargebeeEndpoints, id, own.enabled_events))
  expect(list).toEqual(['GET', chargebeeEndpoints.list.pattern, null])
})

it.each([
  [
    'Polar',
    polarEndpoints,
    Object.values(WebhookEventType),
    (type: string) =>
      polar.decode(JSON.stringify({ type, data: { id: 'x_1', order_id: 'ord_1' } }), { 'webhook-id': 'm' })[0]
        ?.state !== null,
  ],
  [
    'Lemon Squeezy',
    lemonsqueezyEndpoints,
    [...(/type Events = ([^;]+);/.exec(lemonTypes)?.[1] ?? '').matchAll(/"([a-z_]+)"/g)].map(([, type = '']) => type),
    (event_name: string) => {
      const type = event_name.startsWith('subscription_payment_') ? 'subscription-invoices' : 'subscriptions'
      const attributes = { customer_id: 1, status: 'paid' }
      const event = { meta: { event_name, custom_data: { user_id: 'u' } }, data: { type, id: '1', attributes } }
      const [decoded] = lemonsqueezy.decode(JSON.stringify(event), {})
      return decoded?.state !== null || lemonsqueezyClaims(event, ['user_id']).length > 0
    },
  ],
] as const)(
  'the types of events that are chosen at %s are exactly those that the service reads',
  (_, api, types, isRead) => {
    expect(types.length).toBeGreaterThan(12)
    expect([...api.needed, ...api.useful].sort()).toEqual([...types].filter(isRead).sort())
  },
)

it('the types of events that are chosen at Chargebee are among those of its own SDK, and about what becomes state', () => {
  const [, known = ''] = /type EventTypeEnum =([^;]+);/.exec(chargebeeTypes) ?? []
  const types = [...known.matchAll(/'([a-z_]+)'/g)].map(([, type = '']) => type)
  expect(types.length).toBeGreaterThan(150)
  const chosen = [...chargebeeEndpoints.needed, ...chargebeeEndpoints.useful]
  expect(chosen.filter((type) => !types.includes(type))).toEqual([])
  expect(new Set(chosen).size).toBe(chosen.length)
  const left = types.filter(
    (type) => /^(subscription|customer|invoice|payment_source)_/.test(type) && !chosen.includes(type),
  )
  // What is left reminds people, is about something that the state does not have, or about another site.
  const other =
    /reminder|entitlements|business_entity|shipping|advance_invoice|ramp_(created|deleted|drafted|updated)|moved_out|movement_failed/
  expect(left.filter((type) => !other.test(type))).toEqual([])
})
