import { VENDORS, vendorOf } from '.'
import type { ThinEvents } from './calls'
import type { Vendor } from './vendor'

/** What tells thin events, by the name of the vendor that sends them. */
export const THIN_EVENTS: readonly [vendor: string, thin: ThinEvents][] = Object.entries<Vendor>(VENDORS).flatMap(
  ([name, { api }]) => (api?.thin ? [[name, api.thin] as [string, ThinEvents]] : []),
)

/** Whether an event with this name, about an object of this type, sets state once the object is fetched. */
export function namesState(vendor: string, eventType: string, objectType: string | null): boolean {
  const thin = vendorOf(vendor)?.api?.thin
  const isNamed = (glob: string) =>
    new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 's').test(eventType)
  return thin?.names.some(isNamed) === true && thin.objects.includes(objectType ?? '')
}
