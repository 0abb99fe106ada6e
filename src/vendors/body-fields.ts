import * as z from 'zod'

/* What the bodies of billing objects are made of. */

export const bodyTime = z.string().nullable()
export const bodyWord = z.string().nullable()
export const bodyUrl = z.string().nullable()
export const bodyAmount = z.int().nullable()
export const bodyWhole = z.int().nullable()
export const bodyFlag = z.boolean().nullable()

export const commonFields = {
  customer: bodyWord.describe("The vendor's id of the customer."),
  vendor_status: bodyWord.describe("The vendor's own status. Where we do not know it, `status` is `unknown`."),
  livemode: bodyFlag.describe('That of the connection if the vendor does not say it.'),
  created_at: bodyTime.describe('When the vendor created the object.'),
  updated_at: bodyTime.describe("The vendor's time of the event that this state comes from. Lists are sorted by it."),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .nullable()
    .describe('What your own server stored with the object at the vendor. A nested value is its JSON text.'),
}
