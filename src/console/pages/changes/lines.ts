import type { Effect } from '../../../billing/effect'
import type { Change } from '../../../feed/fields'
import { inLine } from '../../ui/differences'
import { effectSaid } from '../../ui/effects'
import { amountIn, asWords } from '../../ui/format'
import { planChanged, saidIn } from '../audit-log/names'
import { saidOf as entrySaid } from '../audit-log/words'
import { billedBy, madeBy, type Names } from './names'

/** The fields of a billing object that say most about it; and its amounts, which say something if their currency is known. */
const TELLING = ['status']
const AMOUNTS = ['total', 'amount', 'amount_due', 'amount_paid', 'refunded_amount']
const MONEY_BACK = ['refunded_amount']

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
    const details = saidIn(names.objects, { ...found.entry, object_type: change.object.type })
    const { more, changes } = entrySaid({ action: found.name, details })
    const differences = planChanged(names.objects, found.id) ?? changes
    if (differences.length > 0) return differences.map(inLine)
    return more === '' ? null : [more]
  }
  const told = effectLines(change, names)
  return told.length > 0 ? told : null
}

/** What an event changed. For a new object: its state, because several events may have made it, and no list showed the states between them. */
function effectLines(change: Change, names: Names): string[] {
  const of = effectOn(change, names)
  const currency = of?.currency?.to ?? billedBy(change, names)?.currency
  if (isNew(change, names)) {
    const amount = amountIn('total', of?.total?.to, typeof currency === 'string' ? currency : null)
    if (typeof of?.status?.to !== 'string') return []
    return [[asWords(of.status.to), amount ?? []].flat().join(', ')]
  }
  // The money that came back for an invoice is in the row of a purchase with its id.
  const money = change.object.type === 'invoice' ? effectOn(change, names, 'purchase') : null
  const said = (fields: readonly string[], by: Effect['change']) =>
    fields.flatMap((field) => (by ? (effectSaid(field, by, currency) ?? []) : []))
  return [...said(TELLING, of), ...(currency ? [...said(AMOUNTS, of), ...said(MONEY_BACK, money)] : [])]
}

/** Whether the object of a change is new. */
export function isNew(change: Change, names: Names): boolean {
  return OF_OBJECTS.test(change.type) && (change.revision === 1 || effectOn(change, names)?.status?.from === null)
}

/** What the event that made a change did to its object. Of any other change, such as of a customer's link, it does not tell. */
function effectOn(change: Change, names: Names, kind = change.object.type): Effect['change'] {
  if (!OF_OBJECTS.test(change.type)) return null
  const effects = names.objects.get(madeBy(change)?.id ?? '')?.effects ?? []
  return effects.find((effect) => effect.kind === kind && effect.id === change.object.id)?.change ?? null
}
