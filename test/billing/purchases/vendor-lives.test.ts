import { expect, it } from 'vitest'
import { stored } from '../../../src/billing/body'
import { placedParts } from '../../../src/billing/purchases/place'
import { type Candidate, eventRank, type ResolvedState } from '../../../src/billing/reduce'
import { VENDORS, type VendorName } from '../../../src/vendors'
import type { Vendor } from '../../../src/vendors/vendor'
import { cases } from '../../harness'
import { randomFrom, shuffled } from '../lives'
import {
  chargebeePurchaseLife,
  shopifyPurchaseLife,
  squarePurchaseLife,
  type ToldEvent,
  type VendorLife,
} from './vendor-lives'

/* Lives of payments of vendors other than Stripe, in six orders each, with duplicates and with refunds before their sale. */

const LIVES = cases(200)
const ORDERS = 6
const NONE: ResolvedState = { candidates: [], ambiguous: false }

function candidatesOf(vendor: Vendor, { payload, headers = {} }: ToldEvent): Candidate[] {
  const [decoded] = vendor.decode(JSON.stringify(payload), headers)
  const snapshots = decoded?.content ? (vendor.snapshots?.(decoded.content, decoded) ?? []) : []
  return snapshots.flatMap((snapshot) => {
    if (snapshot.kind !== 'purchase') return []
    const { part, before, after, body, reports } = snapshot
    const names = { vendor_event_id: decoded?.vendor_event_id ?? '', event_id: decoded?.vendor_event_id ?? '' }
    const candidate = { part, rank: eventRank(snapshot), ...names, before, after, body: stored(body) }
    return [{ ...candidate, ...(reports && { reports }) }]
  })
}

function endOf(vendor: Vendor, told: readonly ToldEvent[]): ResolvedState {
  let row = NONE
  for (const one of told) {
    const made = candidatesOf(vendor, one)
    if (made.length > 0) [row] = placedParts([row], made) as [ResolvedState]
  }
  return row
}

it.each<[VendorName, (random: () => number) => VendorLife]>([
  ['chargebee', chargebeePurchaseLife],
  ['shopify', shopifyPurchaseLife],
  ['square', squarePurchaseLife],
])(`%s: ${LIVES} lives in ${ORDERS} orders each end as they say, in the same rows`, (name, lifeOf) => {
  const random = randomFrom(7)
  const seen = new Set<string>()
  for (let n = 0; n < LIVES; n++) {
    const { told, truth } = lifeOf(random)
    const orders = Array.from({ length: ORDERS }, () =>
      shuffled([...told, ...told.filter(() => random() < 0.2)], random),
    )
    const [first, ...others] = orders.map((order) => endOf(VENDORS[name], order)) as [ResolvedState]
    for (const row of others) expect(row, JSON.stringify(told)).toEqual(first)
    expect(first.candidates[0]?.body, JSON.stringify(told)).toMatchObject(truth)
    expect(first.ambiguous).toBe(false)
    seen.add(truth.status)
  }
  expect(seen).toContain('partially_refunded')
  expect(seen).toContain('refunded')
})
