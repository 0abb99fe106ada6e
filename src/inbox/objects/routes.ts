import { Hono } from 'hono'
import * as z from 'zod'
import { Invoice } from '../../billing/invoices/invoice'
import { NAMES, noObject } from '../../billing/names'
import { PaymentMethod } from '../../billing/payment-methods/payment-method'
import { Purchase } from '../../billing/purchases/purchase'
import { include } from '../../billing/read/fields'
import type { Owned, ShownObjects } from '../../billing/read/present'
import { findObject } from '../../billing/read/store'
import { Subscription } from '../../billing/subscriptions/subscription'
import { ownerBeside, presentOwned } from '../../consumers/owned'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import type { ObjectKind } from '../../lib/billing-kinds'
import { VendorField } from '../../vendors/field'
import { included, including, inRoomFor } from './vendor-object'

const policy = { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true } as const
const oneFields = z.strictObject({
  vendor: VendorField.optional().describe('Needed only if two vendors use the same id.'),
  include,
})

/**
 * `GET /:id` of one kind of billing object: mounted beside its list. It is here because the vendor's own object is in
 * the payload of an event.
 */
function objectRoute<K extends ObjectKind>(kind: K, Row: z.ZodType<ShownObjects[K] & Owned>) {
  const { one, noun, aNoun } = NAMES[kind]
  return new Hono<HttpEnv>().get(
    '/:id',
    route({
      id: `get${one}`,
      summary: `Get ${aNoun}`,
      description: `The state that its events add up to.`,
      tag: 'Billing state',
      policy,
      responses: { 200: { description: `The ${noun}.`, schema: Row } },
      faults: ['not_found'],
    }),
    query(oneFields),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const { vendor, include } = c.req.valid('query')
      const { db } = c.get('rt')
      const key = { kind, id: c.req.param('id'), vendor }
      return inRoomFor(c, include, async () => {
        const { rows, source } = await read(c, {
          rows: findObject(db, project, key, ownerBeside(project)),
          ...including(db, project, key, include),
        })
        const [row] = rows
        if (!row?.body) throw noObject(kind)
        return answer(
          c,
          { ...presentOwned(kind, row), ...included({ ...key, vendor: row.vendor }, include, source) },
          200,
        )
      })
    },
  )
}

export const subscriptionRoute = objectRoute('subscription', Subscription)
export const invoiceRoute = objectRoute('invoice', Invoice)
export const paymentMethodRoute = objectRoute('payment_method', PaymentMethod)
export const purchaseRoute = objectRoute('purchase', Purchase)
