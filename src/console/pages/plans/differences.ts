import type { Feature } from '../../../catalog/features'
import { FOREVER } from '../../../catalog/lasting'
import type { MappedPrice, Plan, Price } from '../../../catalog/plans'
import type { PlanFeature, PlanFeatures } from '../../../catalog/values'
import type { Difference } from '../../ui/differences'
import { vendorTitle } from '../../ui/vendor-titles'
import { shownValue } from './values'

/** What a form sets of a plan. */
export type WantedPlan = Pick<Plan, 'key' | 'name' | 'rank' | 'state' | 'features' | 'prices'>

const FIELDS = { key: 'Key', name: 'Name', rank: 'Rank', state: 'State' } as const

/** What a change would change, or has changed, of the plan itself. A feature that was deleted since has no name but its key. */
export function differencesOf(
  plan: WantedPlan,
  wanted: WantedPlan,
  catalog: readonly Pick<Feature, 'key' | 'name'>[],
): Difference[] {
  const fields = Object.entries(FIELDS).map(([name, what]) => {
    const field = name as keyof typeof FIELDS
    return { what, from: String(plan[field]), to: String(wanted[field]) }
  })
  const names = new Map(catalog.map(({ key, name }) => [key, name]))
  const keys = new Set([...names.keys(), ...Object.keys(plan.features), ...Object.keys(wanted.features)])
  const features = [...keys].map((key) => ({
    what: names.get(key) ?? key,
    from: givenIn(plan.features, key),
    to: givenIn(wanted.features, key),
  }))
  const refs = new Map([...plan.prices, ...wanted.prices].map((price) => [refOf(price), price]))
  const has = (list: readonly MappedPrice[], ref: string) => {
    const found = list.find((price) => refOf(price) === ref)
    return found ? `${ref}${found.lasts ? `, one-time payments ${lastingOf(found)}` : ''}` : null
  }
  const prices = [...refs].map(([ref, { vendor }]) => ({
    what: `Price at ${vendorTitle(vendor)}`,
    from: has(plan.prices, ref),
    to: has(wanted.prices, ref),
  }))
  return [...fields, ...features, ...prices]
    .filter(({ from, to }) => from !== to)
    .map(({ what, from, to }) => ({ what, from: from && shortRef(from), to: to && shortRef(to) }))
}

/** How long one-time payments of a price last, and what a second one does. One that lasts forever is followed by none. */
export function lastingOf({ lasts, again }: Pick<MappedPrice, 'lasts' | 'again'>): string {
  const order = lasts === FOREVER ? '' : ', one after the other'
  return `last ${lasts}${again === 'beside' ? ', overlapping' : order}`
}
const refOf = ({ vendor, ref }: Price) => `${vendor}\n${ref}`
const shortRef = (text: string) => text.replace(/^[a-z]+\n/, '')

function givenIn(features: PlanFeatures, key: string): string | null {
  const given: PlanFeature | undefined = Object.hasOwn(features, key) ? features[key] : undefined
  return given ? `${shownValue(given.value)}${given.per_seat ? ' per seat' : ''}` : null
}
