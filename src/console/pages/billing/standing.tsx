import type { Presented } from '../../../billing/read/present'
import { Badge, TestBadge } from '../../ui/badge'
import { asWords } from '../../ui/format'
import { vendorTitle } from '../../ui/vendor-titles'

/**
 * The status, with the vendor's own status if that differs, whether the status is ambiguous, and a mark if it is of test mode.
 *
 * @param props.now a word for what the status means now, which takes its place
 */
export function BillingStanding({
  of,
  now,
}: {
  now?: string | null | undefined
  of: Pick<Presented, 'vendor' | 'status' | 'vendor_status' | 'ambiguous' | 'incomplete'> & {
    livemode?: boolean | null
  }
}) {
  const { vendor, status, vendor_status, ambiguous, incomplete, livemode } = of
  return (
    <>
      <Badge of={now ?? status} />{' '}
      {vendor_status && vendor_status !== status && vendor_status !== now && (
        <small class="quiet">{`${vendorTitle(vendor)}:\u00a0${asWords(vendor_status)}`}</small>
      )}{' '}
      {ambiguous && <Badge of="ambiguous" />} {incomplete && <Badge of="incomplete" />} <TestBadge of={livemode} />
    </>
  )
}

/** What is uncertain about an object, and what to do about it. */
export function Doubt({ of: { ambiguous, incomplete } }: { of: Pick<Presented, 'ambiguous' | 'incomplete'> }) {
  return (
    <>
      {ambiguous && (
        <p class="warning">
          Several events with the same timestamp report different states. Check the state in the vendor’s dashboard.
        </p>
      )}
      {incomplete && <p class="warning">A list in this object was cut off. The vendor has the full list.</p>}
    </>
  )
}
