import { VENDOR_NAMES } from '../../vendors'
import { vendorTitle } from './vendor-titles'

/** The number of colors in the style sheet. */
const COLORS = 8

/** A vendor's name after a colored initial, by which it is found in a list. The color is one of a few, not the vendor's own. */
export function VendorLabel({ name }: { name: string }) {
  const title = vendorTitle(name)
  const color = Math.max(VENDOR_NAMES.indexOf(name as (typeof VENDOR_NAMES)[number]), 0) % COLORS
  return (
    <span class={`vendor color-${color}`} data-initial={title[0]}>
      {title}
    </span>
  )
}
