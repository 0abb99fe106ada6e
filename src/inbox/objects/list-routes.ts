import { Hono } from 'hono'
import * as z from 'zod'
import { Invoice } from '../../billing/invoices/invoice'
import {
  MAX_BODIES_READ,
  MAX_BODIES_READ_OF_SET,
  MAX_OBJECT_LIST_BYTES,
  MAX_OWN_CUSTOMERS,
  MAX_ROWS_READ,
  MAX_SORTED,
} from '../../billing/limits'
import { NAMES } from '../../billing/names'
import { PaymentMethod } from '../../billing/payment-methods/payment-method'
import { Purchase } from '../../billing/purchases/purchase'
import { listFields, vendorId } from '../../billing/read/fields'
import type { OnItems } from '../../billing/read/filters'
import { type AskedObjects, listing } from '../../billing/read/list'
import type { Owned, ShownObjects } from '../../billing/read/present'
import { listObjects } from '../../billing/read/store'
import { Subscription } from '../../billing/subscriptions/subscription'
import { consumerName } from '../../consumers/customer-fields'
import { customerSetOf, ownerBeside, presentOwned } from '../../consumers/owned'
import { refToRead } from '../../consumers/ref'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { catalogKey, flagField } from '../../http/fields'
import { boundedListOf } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import type { ObjectKind } from '../../lib/billing-kinds'
import { InvoiceBody, PaymentMethodBody, SubscriptionBody } from '../../vendors/objects'
import { PurchaseBody } from '../../vendors/purchase'

const policy = { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true } as const
const fields = {
  ...listFields,
  consumer: consumerName
    .optional()
    .describe(
      'A consumer: its id, or `ext:` and its external id. Objects of all customers that are linked to it now. The list is empty for an erased consumer, and for the `csm_…` of a merged one.',
    ),
}

type Asked = AskedObjects & { consumer?: string | undefined; plan?: string | undefined }

/** Which objects have an item of a plan, by the plan's id or key. */
type OfPlan = (projectId: string, plan: string) => OnItems

/**
 * `GET /` of one kind of object: mounted beside `GET /:id`.
 *
 * @param Row the object as it is shown
 * @param Query the query of the list: its page and its filters
 * @param ofPlan of a list with the filter `plan`
 */
function listRoute<K extends ObjectKind, Query extends z.ZodType<Asked>>(
  kind: K,
  Row: z.ZodType<ShownObjects[K] & Owned>,
  Query: Query,
  ofPlan?: OfPlan,
) {
  const { many, noun } = NAMES[kind]
  return new Hono<HttpEnv>().get(
    '/',
    route({
      id: `list${many}`,
      summary: `List the project's ${noun}s`,
      description: `Sorted by \`updated_at\`, the latest change first by default. Filtering by \`updated_after\` uses an index. So does \`customer\` for up to ${MAX_SORTED} objects, and \`consumer\` for up to ${MAX_OWN_CUSTOMERS} customers and ${MAX_SORTED} objects in total. Otherwise, a page reads at most ${MAX_ROWS_READ} rows. With \`created_after\`, \`metadata\` or another filter on what only the object itself contains, it reads at most ${MAX_BODIES_READ}, or ${MAX_BODIES_READ_OF_SET} if \`consumer\` is set too. A page that ends for this reason is \`truncated\`, and its \`next_cursor\` continues from there. A page also ends early, with \`has_more\`, when its objects take ${MAX_OBJECT_LIST_BYTES} bytes.`,
      tag: 'Billing state',
      policy,
      responses: {
        200: { description: `A page of ${noun}s.`, schema: boundedListOf(Row) },
      },
    }),
    query(Query),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const asked = c.req.valid('query' as never) as z.infer<Query>
      const rt = c.get('rt')
      const list = listing(kind, asked, rt.now)
      const { consumer, customer, plan } = asked
      const customers = consumer === undefined ? undefined : customerSetOf(project, refToRead(consumer), customer)
      const onItems = plan === undefined ? undefined : ofPlan?.(project, plan)
      const rows = listObjects(rt.db, project, kind, { ...list, customers, onItems, beside: ownerBeside(project) })
      const found = await read(c, { rows })
      return answer(
        c,
        list.page(found.rows, (row) => presentOwned(kind, row)),
        200,
      )
    },
  )
}

/** @param ofPlan the condition for the filter `plan`, which the catalog knows */
export const subscriptionRoutes = (ofPlan: OfPlan) =>
  listRoute(
    'subscription',
    Subscription,
    z.strictObject({
      ...fields,
      status: SubscriptionBody.shape.status.optional(),
      plan: catalogKey
        .optional()
        .describe(
          'A plan: its id or its key. Subscriptions with an item whose price is mapped to it; or whose product is, if the price is mapped to no plan. The list is empty for an unknown plan. A page reads up to two rows more for each item that it looks at.',
        ),
      overdue: flagField
        .optional()
        .describe(
          'Whether the subscription should have renewed more than a day ago, and nothing has been received about it since. The service looks for such subscriptions in live mode every six hours: see [health](docs/concepts/webhooks.md#what-does-not-come).',
        ),
    }),
    ofPlan,
  )

export const paymentMethodRoutes = listRoute(
  'payment_method',
  PaymentMethod,
  z.strictObject({ ...fields, status: PaymentMethodBody.shape.status.optional() }),
)

export const invoiceRoutes = listRoute(
  'invoice',
  Invoice,
  z.strictObject({
    ...fields,
    subscription: vendorId.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted invoices are listed only with `status=deleted`.'),
    overdue: flagField
      .optional()
      .describe(
        'Whether the invoice is still open after its due date, unless nothing is left to pay. An invoice that is due on a day, without a time, becomes overdue when that day ends (UTC).',
      ),
  }),
)

export const purchaseRoutes = listRoute(
  'purchase',
  Purchase,
  z.strictObject({
    ...fields,
    subscription: vendorId.optional(),
    status: PurchaseBody.shape.status.optional(),
    disputed: flagField.optional().describe('Whether it has a dispute, whatever became of that.'),
    items_missing: flagField.optional().describe('Whether nothing says what was bought.'),
  }),
)
