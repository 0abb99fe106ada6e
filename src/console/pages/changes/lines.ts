import type { Effect } from '../../../billing/effect'
import type { Change } from '../../../feed/fields'
import { inLine } from '../../ui/differences'
import { effectSaid } from '../../ui/effects'
import { calledBy, planChanged } from '../audit-log/names'
import { saidOf as entrySaid } from '../audit-log/words'
import { madeBy, type Names } from './names'

/** The fields of a billing object that say most about it; and its amounts, which say something if their currency is known. */
const TELLING = ['status']
const AMOUNTS = ['total', 'amount', 'amount_due', 'amount_paid', 'refunded_amount']

/** Changes of billing objects, which effects tell. */
const OF_OBJECTS = /^(subscription|invoice|payment_method|purchase|customer)\.changed$/

/** What was changed, in lines, as far as it is known from what made the change; null if it is not known. */
export function linesOf(change: Change, names: Names): string[] | null {
  const made = madeBy(change)
  const found = made && names.objects.get(made.id)
  if (!found) return null
  if (found.entry) {
    // An entry about something else does not say what this change changed.
    if (found.name !== change.type) return null
    const { details } = found.entry
    const { more, changes } = entrySaid({ action: found.name, details: details && calledBy(names.objects, details) })
    const differences = planChanged(names.objects, found.id) ?? changes
    if (differences.length > 0) return differences.map(inLine)
    return more === '' ? null : [more]
  }
  const of = effectOn(change, names)
  const fields = of?.currency ? [...TELLING, ...AMOUNTS] : TELLING
  const told = fields.flatMap((field) => (of ? (effectSaid(field, of) ?? []) : []))
  return told.length > 0 ? told : null
}

/** Whether the object of a change is new. */
export function isNew(change: Change, names: Names): boolean {
  return OF_OBJECTS.test(change.type) && (change.revision === 1 || effectOn(change, names)?.status?.from === null)
}

/** What the event that made a change did to its object. Of any other change, such as of a customer's link, it does not tell. */
function effectOn(change: Change, names: Names): Effect['change'] {
  if (!OF_OBJECTS.test(change.type)) return null
  const effects = names.objects.get(madeBy(change)?.id ?? '')?.effects ?? []
  return effects.find(({ kind, id }) => kind === change.object.type && id === change.object.id)?.change ?? null
}
