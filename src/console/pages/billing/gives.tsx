import type { Presented } from '../../../billing/read/present'
import type { Given, PurchaseGives } from '../../../entitlements/given'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { ExactTime } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { customerPath } from '../customers/read'
import { lastingOf } from '../plans/differences'
import { addPath } from '../plans/unmapped'

type Row = Record<string, unknown>

/**
 * The column of what each item of a purchase gives, until when, and why nothing.
 *
 * @param of.parts the items, in the same order as what they give
 */
export function givesColumn(
  c: Visit,
  { object, parts, gives }: { object: Presented; parts: readonly Row[]; gives: PurchaseGives },
): Column<Row> {
  const given = new Map(parts.map((part, n) => [part, gives.items[n]]))
  return [
    'Access',
    (row) => {
      const one = given.get(row)
      if (!one) return null
      const [path, verb] = remedyOf(c, { vendor: object.vendor, customer: gives.customer }, row, one)
      return (
        <div class="text">
          <Badge of={one.why_not === null ? 'grants access' : 'no access'} /> <Window c={c} of={one} />
          {one.why_not !== null && (
            <span class="line">
              {one.why_not} {path && <a href={path}>{verb}</a>}
            </span>
          )}
          {one.lasts !== null && <span class="line quiet">One-time payments {lastingOf(one)}.</span>}
        </div>
      )
    },
  ]
}

/** From when and until when it gives its plan. */
function Window({ c, of: { from, until, why_not } }: { c: Visit; of: Given }) {
  const { now } = c.get('rt')
  if (from === null) return null
  return (
    <span class="line">
      {why_not !== null && (
        <>
          from <ExactTime at={from} now={now} />{' '}
        </>
      )}
      {until !== null && 'until '}
      <ExactTime at={until} now={now} none="indefinitely" />
    </span>
  )
}

/** Where to look, or what to do, about an item that gives nothing: a path and what it is called; undefined if nothing helps. */
function remedyOf(
  c: Visit,
  { vendor, customer }: Pick<Presented, 'vendor' | 'customer'>,
  { price, variant, product }: Row,
  of: Given,
) {
  const { plans, events } = pathsOf(c)
  if (of.event_id !== null) return [`${events}/${of.event_id}`, 'See the event']
  const ref = price ?? variant ?? product
  if (of.lacks === 'plan' && ref && can(c, 'catalog:write'))
    return [addPath(c, { vendor, ref: String(ref) }), 'Add it to a plan']
  if (of.lacks === 'lasts' && can(c, 'catalog:write')) return [`${plans}/${of.plan_id}/edit`, 'Edit the plan']
  if (of.lacks === 'consumer' && customer !== null && can(c, 'consumers:write'))
    return [`${customerPath(c, { vendor, id: customer })}/consumer`, 'Link to a consumer']
  return []
}

/** Why nothing can be said of what a purchase gives, or why all of it gives nothing. */
export function GivesNothing({ of }: { of: PurchaseGives | null | undefined }) {
  if (of === undefined) return null
  if (of === null) {
    return (
      <p class="warning" role="note">
        This consumer has too many purchases to show what this one grants.
      </p>
    )
  }
  if (of.why_not === null) return null
  return (
    <>
      <h2>Items</h2>
      <p class="quiet">{of.why_not} The purchase grants no access.</p>
    </>
  )
}
