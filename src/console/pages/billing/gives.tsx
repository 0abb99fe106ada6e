import type { Presented } from '../../../billing/read/present'
import type { Given, PurchaseGives } from '../../../entitlements/given'
import { MAX_SOURCES } from '../../../entitlements/limits'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { ExactTime } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { customerPath } from '../customers/read'
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
    'Gives',
    (row) => {
      const one = given.get(row)
      if (!one) return null
      return (
        <div class="text">
          <Badge of={one.why_not === null ? 'gives its plan' : 'gives nothing'} /> <Window c={c} of={one} />
          {one.why_not !== null && (
            <span class="line">
              {one.why_not} <Remedy c={c} object={object} item={row} of={one} />
            </span>
          )}
          <Lasting of={one} />
        </div>
      )
    },
  ]
}

/** From when and until when it gives its plan. */
function Window({ c, of: { from, until, why_not } }: { c: Visit; of: Given }) {
  const { now } = c.get('rt')
  if (from === null) return null
  const begins = (why_not !== null || from > now) && (
    <>
      from <ExactTime at={from} now={now} />{' '}
    </>
  )
  return (
    <span class="line">
      {begins}
      {until === null ? (
        'without an end'
      ) : (
        <>
          until <ExactTime at={until} now={now} />
        </>
      )}
    </span>
  )
}

/** What the plan says of one-time payments. */
function Lasting({ of: { lasts, again } }: { of: Given }) {
  if (lasts === null) return null
  return (
    <span class="line quiet">
      Lasts <code>{lasts}</code>
      {again === 'beside'
        ? ', and runs beside other purchases of the plan.'
        : ', and follows other purchases of the plan.'}
    </span>
  )
}

/** Where to look, or what to do, about an item that gives nothing. */
function Remedy({ c, object, item, of }: { c: Visit; object: Presented; item: Row; of: Given }) {
  const { plans, events } = pathsOf(c)
  const { vendor, customer } = object
  if (of.event_id !== null) return <a href={`${events}/${of.event_id}`}>Event</a>
  const ref = item.price ?? item.variant ?? item.product
  if (of.lacks === 'plan' && typeof ref === 'string' && can(c, 'catalog:write'))
    return <a href={addPath(c, { vendor, ref })}>Add it to a plan</a>
  if (of.lacks === 'lasts' && can(c, 'catalog:write')) return <a href={`${plans}/${of.plan_id}/edit`}>Edit the plan</a>
  if (of.lacks === 'consumer' && customer !== null && can(c, 'consumers:write'))
    return <a href={`${customerPath(c, { vendor, id: customer })}/consumer`}>Link to a consumer</a>
  return null
}

/** Why nothing can be said of what a purchase gives, or why all of it gives nothing. */
export function GivesNothing({ of }: { of: PurchaseGives | null | undefined }) {
  if (of === undefined) return null
  if (of === null) {
    return (
      <p class="warning" role="note">
        This consumer has more than {MAX_SOURCES.toLocaleString('en')} purchases, or very many items. That is too much
        to say what this one gives.
      </p>
    )
  }
  if (of.why_not === null) return null
  return (
    <>
      <h2>Items</h2>
      <p class="quiet">{of.why_not} The purchase gives nothing.</p>
    </>
  )
}
