import * as z from 'zod'
import { exampleOf, named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { CustomerBody } from '../../vendors/objects'
import { Invoice } from '../invoices/invoice'
import { PaymentMethod } from '../payment-methods/payment-method'
import { Purchase } from '../purchases/purchase'
import { exampleAddress, shownExample, shownObject } from '../read/fields'
import { Subscription } from '../subscriptions/subscription'

function latest<Row extends z.ZodType>(Row: Row) {
  return z
    .object({ data: z.array(Row), has_more: z.boolean() })
    .describe(
      'The ones that changed last. `has_more`: there are more in the list of this kind, with `customer` as a filter.',
    )
}

/** Which consumer a customer is. */
export const linkFields = {
  consumer_id: z.string().nullable().describe('The consumer that the customer is; null if it is none, or not known.'),
  external_id: z
    .string()
    .nullable()
    .describe('The external id that links the customer. No consumer may have it yet: `consumer_id` is then null.'),
  linked_by: named('LinkedBy', z.enum(['manual', 'customer', 'checkout']))
    .nullable()
    .describe(
      'What links it. `manual`: a pin. `customer`: an event of the customer itself. `checkout`: an event of a checkout, a subscription or a transaction. Null: nothing.',
    ),
}

const { customer: _, ...body } = CustomerBody.shape
const { source_event_id, ...shown } = shownObject(body).shape
const { customer: __, ...example } = shownExample

/** A customer as the API shows it, with what it has. */
export const Customer = named(
  'Customer',
  z.object({
    ...shown,
    source_event_id: source_event_id
      .nullable()
      .describe(
        'The recorded event that this state comes from. Null if no event of the customer itself is known, only events of its objects: then all fields of the customer are null.',
      ),
    status: shown.status.nullable(),
    ...linkFields,
    subscriptions: latest(Subscription),
    invoices: latest(Invoice),
    payment_methods: latest(PaymentMethod),
    purchases: latest(Purchase),
  }),
  {
    ...example,
    id: SAMPLE.customer,
    status: 'active',
    vendor_status: null,
    email: SAMPLE.email,
    name: 'Ada Lovelace',
    phone: null,
    description: null,
    address: exampleAddress,
    locale: 'en',
    currency: 'EUR',
    balance: 0,
    delinquent: false,
    tax_exempt: 'none',
    discounts: [],
    default_payment_method: SAMPLE.paymentMethod,
    consumer_id: SAMPLE.consumer,
    external_id: SAMPLE.externalId,
    linked_by: 'customer',
    subscriptions: { data: [exampleOf(Subscription)], has_more: false },
    invoices: { data: [exampleOf(Invoice)], has_more: false },
    payment_methods: { data: [exampleOf(PaymentMethod)], has_more: false },
    purchases: { data: [exampleOf(Purchase)], has_more: false },
  },
)
