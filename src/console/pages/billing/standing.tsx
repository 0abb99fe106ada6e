import type { Presented } from '../../../billing/read/present'
import { Badge } from '../../ui/badge'

/** The status, with the vendor's own status if that differs, and whether the status is ambiguous. */
export function Standing({ of }: { of: Pick<Presented, 'status' | 'vendor_status' | 'ambiguous'> }) {
  const { status, vendor_status, ambiguous } = of
  return (
    <>
      <Badge of={status} /> {vendor_status && vendor_status !== status && <span class="quiet">{vendor_status}</span>}{' '}
      {ambiguous && <Badge of="ambiguous" />}
    </>
  )
}
