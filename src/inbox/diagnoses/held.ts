import { BoundedMap } from '../../lib/bounded-map'
import type { SignatureCause, VendorDelivery } from '../../vendors/vendor'
import type { LiveConnection } from '../receive/known-connections'
import { MAX_REMEMBERED } from '../receive/limits'
import { DIAGNOSE_EVERY, MAX_HELD, MAX_HELD_BYTES, MAX_HELD_OF_A_PROJECT } from './limits'

/** A delivery that was refused for its signature. `address`: where it came from; never stored. */
export type RefusedDelivery = {
  connection: LiveConnection
  delivery: VendorDelivery
  cause: SignatureCause
  skew_ms: number | null
  address: string
}
/** One that waits for its diagnosis. `size`: bytes of its body, of which a large one is not held. */
export type HeldDelivery = RefusedDelivery & { size: number }

const byStore = new Map<number, Map<string, HeldDelivery>>()
/** When each connection last had a diagnosis (ms), and where that delivery had come from. */
const diagnosed = new BoundedMap<string, { at: number; address: string }>(MAX_REMEMBERED)

/**
 * Holds a refused delivery until the counts of refusals are written: one of each connection. It computes and reads nothing, because
 * its sender waits for the answer.
 *
 * A delivery from another address than that of the last diagnosis takes the place of one from the same address. So junk from one
 * address hides the deliveries of a vendor only every other time.
 */
export function holdRefused(store: number, refused: RefusedDelivery): void {
  const held = byStore.get(store) ?? new Map<string, HeldDelivery>()
  byStore.set(store, held)
  const { id } = refused.connection
  const other = held.get(id)
  const last = diagnosed.get(id)?.address
  if (other ? rank(refused, last) <= rank(other, last) : isFull(held, refused.connection.project_id)) return
  const { delivery } = refused
  const size = delivery.bytes.byteLength
  const bytes = size > MAX_HELD_BYTES ? new Uint8Array() : delivery.bytes
  held.set(id, { ...refused, size, delivery: { ...delivery, headers: new Headers(delivery.headers), bytes } })
}

/** Whether there is no place left, or none for a project: one that refuses on many connections leaves room for others. */
function isFull(held: ReadonlyMap<string, HeldDelivery>, project: string): boolean {
  if (held.size >= MAX_HELD) return true
  const own = [...held.values()].filter(({ connection }) => connection.project_id === project)
  return own.length >= MAX_HELD_OF_A_PROJECT
}

/** Who has a secret can tell more than who has none. */
function rank({ address, cause }: RefusedDelivery, last: string | undefined): number {
  return (address === last ? 0 : 2) + (cause === 'signature_timestamp' ? 1 : 0)
}

/** Takes the held deliveries of a store. Those of connections that have had a diagnosis a moment ago are dropped. */
export function takeHeld(store: number, now: number): HeldDelivery[] {
  const held = [...(byStore.get(store)?.values() ?? [])]
  byStore.delete(store)
  return held.filter(({ connection: { id }, address }) => {
    const last = diagnosed.get(id)
    if (last && now - last.at < DIAGNOSE_EVERY) return false
    diagnosed.set(id, { at: now, address })
    return true
  })
}
