import { amountIn, asWords, priceName, words } from './format'

type Entry = Record<string, unknown>
/** The entries of both lists, and the currency of their amounts. */
type Among = { all: readonly Entry[]; currency: string | null }
/** Changes of an object, by its fields. */
type Beside = Readonly<Record<string, { from: unknown; to: unknown }>>

/** Fields that say nothing to a reader beside the others. */
const LEFT_OUT = ['id', 'event_id', 'created_at', 'currency']
/** Fields of an item that its subscription has too. */
const PERIOD = ['current_period_start', 'current_period_end']

/**
 * The entries in which two lists differ, such as the refunds of a purchase: each with only the fields that changed, or as a whole if it is
 * new or gone. Entries are the same if they have the same `id` or, without ids, the same place.
 *
 * @param currency of the amounts; null if it is not known
 * @param beside what is shown of the object itself: an item is left out if nothing but its period changed, and that of the object did too
 * @returns null if the values are not lists of objects, or nothing is left
 */
export function listChanges(from: unknown, to: unknown, currency: string | null, beside: Beside = {}): string | null {
  const [before, after] = [entriesIn(from), entriesIn(to)]
  if (!before || !after || before.size + after.size === 0) return null
  const among = { all: [...before.values(), ...after.values()], currency }
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const was = before.get(id)
    const is = after.get(id)
    const names = changedNames(was, is)
    if (names.every((name) => isSaid(name, [was, is], beside))) return []
    const old = was ? said(was, names, among) : null
    const next = is ? said(is, names, among) : 'removed'
    return old === null ? next : `${old} → ${next}`
  })
  return changes.join('; ') || null
}

/** Whether the object says this change of an entry itself: that of a period. */
function isSaid(name: string, [was, is]: readonly (Entry | undefined)[], beside: Beside): boolean {
  const own = PERIOD.includes(name) ? beside[name] : undefined
  return own !== undefined && own.from === was?.[name] && own.to === is?.[name]
}

/** The entries of a list by their ids. One that was not set has none. */
function entriesIn(list: unknown): Map<string, Entry> | null {
  if (list === null || list === undefined) return new Map()
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'object' && entry !== null)) return null
  return new Map(list.map((entry: Entry, at) => [typeof entry.id === 'string' ? entry.id : String(at), entry]))
}

/** The fields to show: all fields of an entry that is new or gone, and only the changed ones of an entry that stays. */
function changedNames(was: Entry | undefined, is: Entry | undefined): string[] {
  const names = Object.keys({ ...was, ...is }).filter((name) => !LEFT_OUT.includes(name))
  if (!was || !is) return names
  return names.filter((name) => JSON.stringify(was[name] ?? null) !== JSON.stringify(is[name] ?? null))
}

/** An item without the name of its price, if another price of these items has the same name. Any other entry as it is. */
function namedApart(entry: Entry, all: readonly Entry[]): Entry {
  const isShared = all.some((one) => one.price !== entry.price && priceName(one) === priceName(entry))
  return isShared ? { ...entry, price_name: null, lookup_key: null } : entry
}

/** An item as `3 × Pro, monthly`; another entry by its fields, such as `Amount €5.00, Status Succeeded`. */
function said(entry: Entry, names: readonly string[], { all, currency }: Among): string {
  const isItem = 'quantity' in entry && 'price' in entry
  if (isItem && (names.includes('quantity') || names.includes('price'))) return words(namedApart(entry, all))
  return names
    .filter((name) => entry[name] !== null && entry[name] !== undefined)
    .map((name) => `${asWords(name)} ${shownValue(name, entry[name], currency)}`)
    .join(', ')
}

function shownValue(name: string, value: unknown, currency: string | null): string {
  const isWord = typeof value === 'string' && /^[a-z]+(_[a-z]+)*$/.test(value)
  return amountIn(name, value, currency) ?? (isWord ? value.replaceAll('_', ' ') : words(value))
}
