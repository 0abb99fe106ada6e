import { expect, it } from 'vitest'
import { insertObjects } from '../billing/rows'
import { insertConsumer, insertLink } from '../consumers/rows'
import { insertDevices } from '../devices/rows'
import { insertGrants } from '../entitlements/rows'
import { freshProject, STORE, stripeConnection } from '../harness'
import { insertEvents, seedEvent } from '../inbox/seeding'
import { insertIdentity, insertConnection as insertSso } from '../sso/rows'
import { visit } from './visit'

/* Each list on the page of a consumer shows so many, and says so if there are others. */

type Of = { project: string; consumer: string; token: string }
type List = { tab: string; label: string; most: number; more: RegExp; add: (of: Of, n: number) => Promise<unknown> }

let made = 0
const objects = (kind: 'subscription' | 'purchase' | 'invoice' | 'payment_method', label: string, most: number) => ({
  ...{ tab: 'billing', label, most, more: new RegExp(`>All ${label.toLowerCase()}</a>`) },
  add: ({ project }: Of, n: number) =>
    insertObjects(
      project,
      kind,
      Array.from({ length: n }, () => `of_${made++}`),
    ),
})
const devices = (state: 'active' | 'revoked', most: number) => ({
  ...{ tab: 'devices', label: 'Devices', most, more: /These are not all/ },
  add: ({ project, consumer }: Of, n: number) => insertDevices(project, consumer, state, n),
})

const LISTS: Record<string, List> = {
  subscriptions: objects('subscription', 'Subscriptions', 10),
  purchases: objects('purchase', 'Purchases', 20),
  invoices: objects('invoice', 'Invoices', 10),
  'payment methods': objects('payment_method', 'Payment methods', 10),
  'active devices': devices('active', 20),
  'revoked devices': devices('revoked', 5),
  grants: {
    ...{ tab: 'access', label: 'Grants', most: 5, more: />All grants<\/a>/ },
    add: ({ project, consumer }, n) => insertGrants(project, consumer, n),
  },
  identities: {
    ...{ tab: 'devices', label: 'Identities', most: 10, more: /GET \/sso\/identities/ },
    add: async ({ project, consumer }, n) => {
      const { id } = await insertSso(project)
      for (let i = 0; i < n; i++) await insertIdentity(project, id, consumer)
    },
  },
  events: {
    ...{ tab: 'events', label: 'Events', most: 20, more: /webhooks\/search\?consumer=/ },
    add: async ({ project, token }, n) => {
      const connection = (await stripeConnection(token, project)).id
      const events = Array.from({ length: n }, () =>
        seedEvent({ connection, received_at: Date.now(), refs: ['cus_1'] }),
      )
      await insertEvents(project, events)
      const named = "UPDATE events SET summary = json_object('customer', 'cus_1') WHERE project_id = ?"
      await STORE.prepare(named).bind(project).run()
    },
  },
}

it.each(Object.entries(LISTS).flatMap(([name, list]) => [0, 1].map((others) => [name, others, list] as const)))(
  'the %s of a consumer, with %i more than it shows',
  async (_, others, { tab, label, most, more, add }) => {
    const { project, owner } = await freshProject()
    const consumer = await insertConsumer(project, 'ada')
    await insertLink(project, 'cus_1', { pinned: consumer })
    await add({ project, consumer, token: owner.token }, most + others)
    const { text } = await visit(`/console/p/${project}/platform/consumers/${consumer}?tab=${tab}`, owner.token)
    const [table = ''] = new RegExp(`aria-label="${label}".*?</table>`, 's').exec(text) ?? []
    expect([table.match(/<tr/g)?.length, more.test(text)]).toEqual([1 + most, others > 0])
  },
)
