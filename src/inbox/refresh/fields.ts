import * as z from 'zod'
import { exampleOf, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { isoOrNull } from '../../lib/time'
import type { Refreshed } from './refresh'
import { REFRESH_STATES } from './state'

export const RefreshState = named('RefreshState', z.enum(REFRESH_STATES)).describe(
  '`fresh`: everything matches what the vendor just said. `partial`: some of it does, and the rest is as it was known. `stale`: there was no usable answer, so everything is as it was known.',
)

export const RefreshedCustomer = named(
  'RefreshedCustomer',
  z.object({
    vendor: z.string(),
    id: z.string().describe("The vendor's id of the customer."),
    state: RefreshState,
    fetched_at: timestamp.nullable().describe('When the answer from the vendor was applied. Null if there was none.'),
    changed: z.boolean().describe('Whether this call changed billing state.'),
  }),
  { vendor: 'stripe', id: SAMPLE.customer, state: 'fresh', fetched_at: SAMPLE.time, changed: true },
)

export function presentRefreshed({
  vendor,
  id,
  state,
  fetched_at,
  changed,
}: Refreshed): z.infer<typeof RefreshedCustomer> {
  return { vendor, id, state, fetched_at: isoOrNull(fetched_at), changed }
}

export const RefreshedAt = named('CustomerRefresh', z.object({ as_of: timestamp, ...RefreshedCustomer.shape }), {
  as_of: SAMPLE.time,
  ...exampleOf(RefreshedCustomer),
})
