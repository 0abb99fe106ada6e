import type { Feature } from '../../../catalog/features'
import type { Plan, Price } from '../../../catalog/plans'
import { textOf, valueIn } from './values'

/** What a form about a plan was filled in with. */
export type Entered = {
  key: string
  name: string
  rank: string
  state: string
  /** By the key of the feature. A feature without a text is not part of the plan. */
  features: Record<string, { text: string; per_seat: boolean }>
  prices: Price[]
}
export const BLANK: Entered = { key: '', name: '', rank: '0', state: 'active', features: {}, prices: [] }

/** What the names of the fields of a feature begin with, before its key. */
export const [VALUE, PER_SEAT] = ['value.', 'per_seat.']

/** The form as it is opened for a plan. */
export function enteredFrom({ key, name, rank, state, features, prices }: Plan, catalog: readonly Feature[]): Entered {
  const texts = catalog.flatMap((feature) => {
    const given = features[feature.key]
    return given ? [[feature.key, { text: textOf(feature.type, given.value), per_seat: given.per_seat }] as const] : []
  })
  return { key, name, rank: String(rank), state, features: Object.fromEntries(texts), prices }
}

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  const features = [...form.entries()]
    .filter(([name, value]) => name.startsWith(VALUE) && value.trim() !== '')
    .map(([name, value]) => {
      const key = name.slice(VALUE.length)
      return [key, { text: value.trim(), per_seat: form.get(PER_SEAT + key) === 'true' }] as const
    })
  const vendors = form.getAll('vendor')
  const prices = form.getAll('ref').map((ref, n) => ({ vendor: vendors[n] ?? '', ref: ref.trim() }))
  return {
    key: text('key'),
    name: text('name'),
    rank: text('rank'),
    state: text('state'),
    features: Object.fromEntries(features),
    prices: prices.filter(({ ref }) => ref !== ''),
  }
}

/**
 * What a form sets, as the API takes it.
 *
 * @throws {Fault} `validation_failed` for a config that is not JSON
 */
export function bodyIn({ rank, features, ...rest }: Entered, catalog: readonly Feature[]) {
  const values = Object.entries(features).map(([key, { text, per_seat }]) => {
    // A feature that was deleted meanwhile is refused with the plan.
    const type = catalog.find((one) => one.key === key)?.type ?? 'boolean'
    return [key, { value: valueIn(type, text, `/features/${key}/value`), per_seat }] as const
  })
  return { ...rest, rank: Number(rank || Number.NaN), features: Object.fromEntries(values) }
}

/** The form with one more price, unless the plan has it. */
export function withPrice(entered: Entered, price: Price | null): Entered {
  const has = entered.prices.some(({ vendor, ref }) => vendor === price?.vendor && ref === price.ref)
  return price === null || has ? entered : { ...entered, prices: [...entered.prices, price] }
}
