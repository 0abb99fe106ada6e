import * as z from 'zod'
import { flagField, named } from '../../http/fields'
import { OrderName, pageFields } from '../../http/page'
import { SAMPLE } from '../../http/samples'
import { VendorField } from '../../vendors/field'
import { isoTime } from '../../vendors/lib/time'
import { MAX_ID_LENGTH, MAX_METADATA_FILTERS, MAX_METADATA_KEY_LENGTH, MAX_METADATA_VALUE_LENGTH } from '../limits'

/** A vendor's id as a filter. */
export const vendorId = z.string().min(1).max(MAX_ID_LENGTH)

/**
 * An RFC 3339 time as rows have it: in UTC, without `Z`, and without zeros at the end of its fraction, which would sort
 * after none; null for a time that has no such form.
 */
export function sortable(time: string): string | null {
  const whole = time.replace(/(\.\d{9})\d+/, '$1')
  const [seconds, fraction = ''] = (isoTime(whole) ?? '').replace('Z', '').split('.')
  const digits = fraction.replace(/0+$/, '')
  return seconds ? seconds + (digits && `.${digits}`) : null
}

const when = z.iso
  .datetime({ offset: true })
  .refine((time) => sortable(time) !== null, 'must be an RFC 3339 timestamp of the years 0 to 9999')
const metadata = z
  .record(z.string().min(1).max(MAX_METADATA_KEY_LENGTH), z.string().max(MAX_METADATA_VALUE_LENGTH))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_FILTERS, {
    error: `must have at most ${MAX_METADATA_FILTERS} entries`,
    params: { code: 'out_of_range' },
  })

/** Query fields of every list of objects; each kind adds its `status`. */
export const listFields = {
  ...pageFields,
  customer: vendorId.optional(),
  vendor: VendorField.optional(),
  updated_after: when.optional().describe('By `updated_at`. Inclusive.'),
  created_after: when.optional().describe('By `created_at`. Inclusive.'),
  livemode: flagField
    .optional()
    .describe(
      'Whether the object is live, or of test mode. One whose mode is not known is live. `false` uses an index.',
    ),
  order: OrderName.optional().describe('By `updated_at`. `desc`, the latest change first, if it is left out.'),
  metadata: metadata
    .optional()
    .describe('`metadata[plan]=pro`: objects whose metadata has this value. If there are several, all must match.'),
}

/** Query fields of one object. */
export const include = named('Included', z.enum(['vendor_object']))
  .optional()
  .describe("`vendor_object`: adds the vendor's own object, as the event in `source_event_id` contained it.")

/** The postal address of the examples. */
export const exampleAddress = {
  line1: '12 St James’s Square',
  line2: null,
  city: 'London',
  state: null,
  postal_code: 'SW1Y 4JH',
  country: 'GB',
}

/** What the examples of all kinds have in common. */
export const shownExample = {
  vendor: 'stripe',
  customer: SAMPLE.customer,
  consumer_id: SAMPLE.consumer,
  livemode: true,
  created_at: '2026-11-21T08:46:57Z',
  updated_at: '2026-11-21T08:46:58Z',
  metadata: { plan: 'pro' },
  ambiguous: false,
  incomplete: false,
  source_event_id: SAMPLE.event,
} as const

/** An object as the API shows it: the state that its winning event gives it, where it comes from, and how certain it is. */
export function shownObject<Body extends z.ZodRawShape>(body: Body) {
  return z.object({
    id: z.string().describe("The vendor's id."),
    vendor: z.string(),
    ...body,
    consumer_id: z
      .string()
      .nullable()
      .describe('The consumer that its `customer` is linked to now; null if there is none.'),
    ambiguous: z
      .boolean()
      .describe(
        'Whether several events with the same time, or an event and a fetched object, disagree about the state, and nothing in them shows which one is right.',
      ),
    incomplete: z
      .boolean()
      .describe(
        'Whether a list in it, such as `items`, was cut off: by the vendor in the event, or because it is too long. The vendor has the whole list.',
      ),
    source_event_id: z.string().describe('The recorded event, or the recorded fetch, that this state comes from.'),
    vendor_object: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .describe(
        "Only with `include=vendor_object`: the vendor's own object. Null once the payload of its event was deleted: it is past its retention, or its consumer was erased.",
      ),
  })
}
