import * as z from 'zod'
import { pageFields } from '../../http/page'
import { SAMPLE } from '../../http/samples'
import { MAX_ID_LENGTH, MAX_VENDOR_LENGTH } from '../limits'

/** A vendor's id as a filter. */
export const vendorId = z.string().min(1).max(MAX_ID_LENGTH)
export const vendorName = z.string().min(1).max(MAX_VENDOR_LENGTH)

/** Query fields of every list of objects; each kind adds its `status`. */
export const listFields = { ...pageFields, customer: vendorId.optional(), vendor: vendorName.optional() }

/** What the examples of all kinds have in common. */
export const shownExample = {
  vendor: 'stripe',
  customer: SAMPLE.customer,
  livemode: true,
  updated_at: '2026-11-21T08:46:58Z',
  ambiguous: false,
  source_event_id: SAMPLE.event,
} as const

/** An object as the API shows it: the state that its winning event gives it, where it comes from, and how certain it is. */
export function shownObject<Body extends z.ZodRawShape>(body: Body) {
  return z.object({
    id: z.string().describe("The vendor's id."),
    vendor: z.string(),
    ...body,
    ambiguous: z
      .boolean()
      .describe(
        'Whether several events with the same time disagree about the state, and nothing in them shows which one is right.',
      ),
    source_event_id: z.string().describe('The recorded event that this state comes from.'),
  })
}
