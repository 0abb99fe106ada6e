import { vendorTitle } from './vendor-titles'

/** A vendor's name after a colored initial, by which it is found in a list. The style sheet has a color for each vendor, not the vendor's own. */
export function VendorLabel({ name }: { name: string }) {
  const title = vendorTitle(name)
  return (
    <span class={`vendor ${name}-color`} data-initial={title[0]}>
      {title}
    </span>
  )
}
