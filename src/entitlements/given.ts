import { sql } from 'drizzle-orm'
import type { ObjectKey } from '../billing/read/store'
import type { Again } from '../catalog/lasting'
import type { Db, Results } from '../db/client'
import { settingsOf } from '../tenancy/settings'
import { withoutGuest } from '../vendors/guest'
import { type Bought, boughtBy } from './bought'
import type { BoughtItem, PurchaseFact } from './facts'
import { holdingsAs, holdingsIn, unlessTooMuch } from './holders'
import { holdingNamed, holdingsOf } from './holdings'
import { type Named, ownerOfObject } from './named'
import { settingsNow } from './read'
import { reasonOfState } from './resolve'
import { NOTHING_NAMED, outrankedBy, whyInWords, whyNever } from './why-not'

/*
 * What one purchase gives, item by item. The time of an item can follow that of an earlier purchase of the consumer, so all of these are read.
 */

/** What is missing so that something that was bought gives its plan. */
export type Lacking = 'plan' | 'lasts' | 'customer' | 'consumer'

/** What an item gives. Times in ms. */
export type Given = {
  plan_id: string | null
  lasts: string | null
  again: Again | null
  /** The window of its plan, also if it is over or has not begun. `until` is null if it never ends. Both are null if it gives nothing at any time. */
  from: number | null
  until: number | null
  /** Why it gives nothing now, in words; null if it gives its plan. */
  why_not: string | null
  /** The event that took it back. */
  event_id: string | null
  lacks: Lacking | null
}

/** What a purchase gives: its items in their order. `customer`: by which name it is linked to a consumer. `why_not`: of a purchase without items. */
export type PurchaseGives = { customer: string | null; items: Given[]; why_not: string | null }

/** The statements that read what a purchase gives. */
export function ofPurchase(db: Db, projectId: string, key: Omit<ObjectKey, 'kind'>) {
  const named = { ...key, kind: 'purchase' } as const
  const owner = sql`json_array(json_object('id', ${ownerOfObject(projectId, named)}))`
  return {
    project: settingsNow(db, projectId),
    purchase: holdingNamed(db, projectId, named),
    held: holdingsOf(db, projectId, owner, { all: true, kinds: ['purchase'] }),
  }
}

/**
 * What a purchase gives; null if its consumer has more purchases than one answer looks at.
 *
 * @param consumer the consumer that it belongs to; null if there is none
 */
export function purchaseGives(
  { project: [project], purchase, held }: Results<ReturnType<typeof ofPurchase>>,
  consumer: Named['consumer'],
): PurchaseGives | null {
  return unlessTooMuch(() => {
    const [one] = holdingsAs(holdingsIn(purchase)).purchases
    if (!one || one.items.length === 0) return { customer: one?.customer ?? null, items: [], why_not: NOTHING_NAMED }
    const others = holdingsAs(holdingsIn(held)).purchases.filter(
      ({ vendor, id }) => vendor !== one.vendor || id !== one.id,
    )
    const all = boughtBy([one, ...others], settingsOf(project?.settings ?? null), project?.now ?? 0)
    const holder = withoutHolder(one, consumer)
    const given = (item: BoughtItem) => all.find((bought) => bought.item === item)
    return { customer: one.customer, items: one.items.map((item) => givenOf(item, given(item), holder)), why_not: null }
  })
}

type WhyNothing = Pick<Given, 'why_not' | 'lacks'>

function givenOf(item: BoughtItem, bought: Bought | undefined, holder: WhyNothing): Given {
  const { plan_id, lasts = null, again = null } = item
  const never = whyNever(item)
  if (never !== null || !bought) {
    const lacks = plan_id === null ? 'plan' : 'lasts'
    return { plan_id, lasts, again, from: null, until: null, why_not: never, event_id: null, lacks }
  }
  const { from, until, why, cause } = bought
  const isTaken = cause !== null
  return {
    plan_id,
    lasts,
    again,
    from: isTaken ? null : from,
    until: isTaken ? null : until,
    ...(why === null ? holder : { why_not: cause?.said ?? whyInWords(why, 'purchase'), lacks: null }),
    event_id: cause?.event_id ?? null,
  }
}

/** Why no consumer gets what a purchase gives; nulls if one does. */
function withoutHolder({ vendor, customer }: PurchaseFact, consumer: Named['consumer']): WhyNothing {
  if (customer === null) return { why_not: 'The purchase has no customer.', lacks: 'customer' }
  if (consumer === null) {
    const who = withoutGuest(vendor, customer) === null ? 'guest who paid' : 'customer'
    return { why_not: `The ${who} is not linked to a consumer.`, lacks: 'consumer' }
  }
  const reason = reasonOfState(consumer.state)
  return { why_not: reason && outrankedBy(reason), lacks: null }
}
