import { Hono } from 'hono'
import * as z from 'zod'
import { customersOf } from '../consumers/links'
import { findConsumer, requireConsumer } from '../consumers/read'
import { refToChange } from '../consumers/ref'
import { batch } from '../db/client'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { exampleOf, named, timestamp } from '../http/fields'
import { requireScopes } from '../http/policy'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body } from '../http/validate'
import { refreshConsumer } from '../inbox/refresh/consumer'
import { presentRefreshed, RefreshedCustomer, RefreshState } from '../inbox/refresh/fields'
import { MAX_CHECKOUT_ID, MAX_REFRESHED_CUSTOMERS, REFRESH_WITHIN_MS } from '../inbox/refresh/limits'
import { countRefresh } from '../inbox/refresh/rate'
import { iso } from '../lib/time'
import { VendorField } from '../vendors/field'
import { answerFacts, bytesOfValues } from './answer'
import { presentAsked } from './explain'
import { askedFeatures, EntitlementShown, SAMPLE_ENTITLEMENT } from './fields'
import { factsIn } from './holders'
import { type Extent, factsOf } from './read'

const RefreshBody = named(
  'RefreshConsumer',
  z.strictObject({
    checkout: z
      .strictObject({ vendor: VendorField, id: z.string().min(1).max(MAX_CHECKOUT_ID) })
      .optional()
      .describe(
        'The checkout from which the consumer returns: `cs_…` for Stripe, `txn_…` for Paddle. With it, the call also finds a customer that no event has linked yet.',
      ),
    features: askedFeatures.optional().describe('Keys of features. The answer says what the consumer may do now.'),
  }),
  { checkout: { vendor: 'stripe', id: 'cs_live_a1B2' }, features: ['seats'] },
)

const RefreshedConsumer = named(
  'RefreshedConsumer',
  z.object({
    as_of: timestamp,
    consumer_id: z.string(),
    state: RefreshState,
    customers: z
      .array(RefreshedCustomer)
      .describe(
        `At most ${MAX_REFRESHED_CUSTOMERS}. The \`state\` of the consumer is \`fresh\` if all its customers are here and \`fresh\`. It is \`stale\` if no customer is \`fresh\` or \`partial\`. Otherwise it is \`partial\`.`,
      ),
    features: z.record(z.string(), EntitlementShown).nullable().describe('Null if the call named no features.'),
  }),
  {
    as_of: SAMPLE.time,
    consumer_id: SAMPLE.consumer,
    state: 'fresh',
    customers: [exampleOf(RefreshedCustomer)],
    features: { seats: SAMPLE_ENTITLEMENT },
  },
)

/** `POST /:consumer/refresh`: for the page to which a customer returns from a checkout. */
export const consumerRefreshRoutes = new Hono<HttpEnv>().post(
  '/:consumer/refresh',
  route({
    id: 'refreshConsumer',
    summary: 'Refresh a consumer from the vendors',
    description: `Reads the consumer's customers from the vendors' APIs, as \`POST …/customers/{vendor}/{id}/refresh\` does, and applies what is new. Then it says what the consumer may do. \`features\` needs the scope \`entitlements:read\` too. It answers within about ${Math.ceil((2 * REFRESH_WITHIN_MS) / 1000)} s, even if a vendor does not.`,
    tag: 'Entitlements',
    policy: { actors: ['session', 'api_key'], scope: 'billing:write', project: true },
    responses: {
      200: { description: 'How current the answer is, and what the consumer may do.', schema: RefreshedConsumer },
    },
    faults: [
      'not_found',
      'consumer_merged',
      'consumer_erased',
      'api_key_missing',
      'encryption_key_unavailable',
      'payload_too_large',
      'rate_limited',
    ],
  }),
  body(RefreshBody),
  async (c) => {
    const { checkout, features } = c.req.valid('json')
    const rt = c.get('rt')
    const actor = c.get('actor')
    if (features) requireScopes(actor, ['entitlements:read'])
    const project = projectOf(actor)
    const ref = refToChange(c.req.param('consumer'))
    await countRefresh(rt, project)
    const found = await batch(rt.db, {
      consumer: findConsumer(rt.db, project, ref),
      links: customersOf(rt.db, project, ref),
    })
    const consumer_id = requireConsumer(found.consumer).id
    const { state, customers } = await refreshConsumer(rt, project, { links: found.links, checkout })
    const shown = { consumer_id, state, customers: customers.map(presentRefreshed) }
    if (!features) return answer(c, { as_of: iso(Date.now()), ...shown, features: null }, 200)
    const facts = (extent: Extent) => factsOf(rt.db, project, [{ id: consumer_id }], { keys: features, ...extent })
    return answerFacts(c, facts, (read) => {
      const { now, catalog, holders } = factsIn(read, 1)
      const [holder = { id: consumer_id, state: null, subscriptions: [], purchases: [], grants: [] }] = holders
      const had = presentAsked(features, holder, catalog, now)
      const send = () => answer(c, { as_of: iso(now), ...shown, features: had }, 200)
      return { bytes: bytesOfValues(Object.values(had).map(({ value }) => value)), send }
    })
  },
)
