import * as z from 'zod'
import { linkFields } from '../billing/customers/customer'
import type { CustomerKey } from '../billing/customers/read'
import { MAX_ID_LENGTH } from '../billing/limits'
import { noObject } from '../billing/names'
import { listFields } from '../billing/read/fields'
import { flagField, named } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { vendorOf } from '../vendors'
import { VendorField } from '../vendors/field'
import { isId } from '../vendors/lib/read'
import { MAX_EXTERNAL_ID } from './limits'
import type { Link } from './links'
import { EXTERNAL, refOf } from './ref'

/** A consumer, named by either of its ids. */
export const consumerName = z
  .string()
  .min(1)
  .max(EXTERNAL.length + MAX_EXTERNAL_ID)
  .refine((text) => refOf(text) !== null, `must be a consumer's id, or ${EXTERNAL} and an external id`)

export const CustomerLink = named(
  'CustomerLink',
  z.object({
    vendor: z.string(),
    id: z.string().describe("The vendor's id of the customer. A guest has `guest:` and the id of the purchase."),
    ...linkFields,
    event_id: z.string().nullable().describe('The recorded event that says so; null for `manual` and without a link.'),
  }),
  {
    vendor: 'stripe',
    id: SAMPLE.customer,
    consumer_id: SAMPLE.consumer,
    external_id: SAMPLE.externalId,
    linked_by: 'customer',
    event_id: SAMPLE.event,
  },
)

const { limit, cursor } = listFields
export const ListQuery = z.strictObject({
  limit,
  cursor,
  linked: flagField.optional().describe('Whether the customer is linked to a consumer that exists.'),
  consumer: consumerName.optional().describe('A consumer: its id, or `ext:` and its external id.'),
  vendor: VendorField.optional(),
  guests: flagField
    .optional()
    .describe(
      'Whether the list includes guests that no event and no pin links. A guest is a buyer without a customer at the vendor.',
    ),
})

export const PinBody = named(
  'PinCustomer',
  z.strictObject({
    consumer: consumerName
      .nullable()
      .describe('The consumer: its id, or `ext:` and its external id. Null: no consumer, whatever events say.'),
  }),
  { consumer: `${EXTERNAL}${SAMPLE.externalId}` },
)

/** A customer of the list as the API shows it. */
export function presentLink({ erased: _, recorded: __, ...link }: Link): z.infer<typeof CustomerLink> {
  return link
}

/** Which consumer a customer is, as the customer's own page shows it. */
export function linkOf(link: Link | undefined) {
  const { consumer_id = null, external_id = null, linked_by = null } = link ?? {}
  return { consumer_id, external_id, linked_by }
}

/** A vendor's customer by name. @throws {Fault} `not_found` if no event could name it */
export function customerNamed(vendor: string, id: string): CustomerKey {
  if (!vendorOf(vendor) || !isId(id) || id.length > MAX_ID_LENGTH) throw noObject('customer')
  return { vendor, id }
}

/** The key of a customer in the cursor of a list. */
export function keyOf({ id, vendor }: CustomerKey): string {
  return `${vendor} ${id}`
}

/** The customer that {@link keyOf} made the key of. */
export function keyIn(key: string): CustomerKey {
  const [vendor = '', ...id] = key.split(' ')
  return { vendor, id: id.join(' ') }
}
