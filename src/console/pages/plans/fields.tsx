import type { Feature } from '../../../catalog/features'
import { CreatePlanBody, UpdatePlanBody } from '../../../catalog/fields'
import { MAX_CATALOG_NAME, MAX_PRICES_OF_PLAN, MAX_RANK } from '../../../catalog/limits'
import type { MappedPrice, Plan, Price } from '../../../catalog/plans'
import { PLAN_STATES } from '../../../catalog/schema'
import { choice, form, number, own, text } from '../../form'
import type { Mistakes } from '../../refusal'
import { Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { STATE_OPTIONS, vendorTitle } from '../../ui/vendor-titles'
import { KEY_HINT, newKeyField } from '../features/key'
import { queryOf } from './unmapped'
import { valueIn, valueText } from './values'

/** Rows for new prices. */
const SPARE = 2

/** What the names of the fields of a feature begin with, before its key. */
const VALUE = 'value.'
const PER_SEAT = 'per_seat.'

const KEY_USE = 'The name of the plan in your code.'

const STATES = PLAN_STATES.map((state) => [state, capital(state)] as const)

/** What a second one-time payment does. */
const AGAIN_OPTIONS = [
  ['', 'Paid again: extends it'],
  ['beside', 'Paid again: overlaps'],
] as const

/** The fields of a plan. The values of its features are read by their types: see {@link featuresIn}. */
const fields = {
  name: text('Name', { required: true, maxlength: 2 * MAX_CATALOG_NAME }),
  key: newKeyField(KEY_USE),
  rank: number('Rank', {
    required: true,
    hint: `From 0 to ${MAX_RANK}. If several plans include the same JSON feature, the plan with the highest rank is used.`,
  }),
  state: choice('State', STATES, { hint: 'This is only a label: consumers who have an archived plan keep it.' }),
}

/** A new plan maps no prices: who gets it with a price is shown by the review of a change. */
export const PLAN = form(CreatePlanBody, {
  ...fields,
  prices: own(() => []),
  price: {
    ...choice('Price', [], {
      hint: 'These prices belong to no plan yet. You see who gets the plan before you add the price. You can add more prices later.',
    }),
    read: () => undefined,
  },
})
export const CHANGED_PLAN = form(UpdatePlanBody, { ...fields, prices: own((_, sent) => pricesIn(sent)) })

/** The form of a new plan as it is opened. @param price what it is made for */
export function blankFor(price: Price | null): URLSearchParams {
  return PLAN.opened({ rank: 0, state: 'active', price: price && queryOf(price) })
}

/** The form as it is opened for a plan. @param added a price to add to it */
export function openedFor(plan: Plan, catalog: readonly Feature[], added: Price | null): URLSearchParams {
  const { key, name, rank, state, features, prices } = plan
  const entered = PLAN.opened({ key, name, rank, state })
  for (const feature of catalog) {
    const given = features[feature.key]
    if (!given) continue
    entered.append(VALUE + feature.key, valueText(feature.type, given.value))
    entered.append(PER_SEAT + feature.key, String(given.per_seat))
  }
  const isNew = added && !prices.some(({ vendor, ref }) => vendor === added.vendor && ref === added.ref)
  const all: readonly MappedPrice[] = isNew ? [...prices, added] : prices
  for (const { vendor, ref, lasts, again } of all) {
    entered.append('vendor', vendor)
    entered.append('ref', ref)
    entered.append('lasts', lasts ?? '')
    entered.append('again', again ?? '')
  }
  return entered
}

/** The prices in a form. A row without an id is none. */
export function pricesIn(sent: URLSearchParams): MappedPrice[] {
  const [vendors, lasting, again] = [sent.getAll('vendor'), sent.getAll('lasts'), sent.getAll('again')]
  const prices = sent.getAll('ref').map((ref, n) => ({
    vendor: vendors[n] ?? '',
    ref: ref.trim(),
    lasts: lasting[n]?.trim() || null,
    // The API takes what a second payment does only where a payment lasts.
    again: lasting[n]?.trim() && again[n] === 'beside' ? ('beside' as const) : null,
  }))
  return prices.filter(({ ref }) => ref !== '')
}

/** The texts of the features in a form, by their keys. A feature without a text is not part of the plan. */
function textsIn(sent: URLSearchParams): Map<string, string> {
  const texts = [...sent].filter(([name, value]) => name.startsWith(VALUE) && value.trim() !== '')
  return new Map(texts.map(([name, value]) => [name.slice(VALUE.length), value.trim()]))
}

/** The features that a form sets. @throws {Fault} `validation_failed` for a config that is not JSON */
export function featuresIn(sent: URLSearchParams, catalog: readonly Feature[]) {
  const values = [...textsIn(sent)].map(([key, text]) => {
    // A feature that was deleted meanwhile is refused with the plan.
    const type = catalog.find((one) => one.key === key)?.type ?? 'boolean'
    const per_seat = sent.get(PER_SEAT + key) === 'true'
    return [key, { value: valueIn(type, text, `/features/${key}/value`), per_seat }] as const
  })
  return Object.fromEntries(values)
}

type Props = { sent: { entered: URLSearchParams; mistakes: Mistakes } }

export function PlanInputs({ sent, isNew = false }: Props & { isNew?: boolean }) {
  return (
    <>
      {PLAN.field('name', sent)}
      {PLAN.field('key', sent, isNew ? {} : { required: true, hint: `${KEY_USE} ${KEY_HINT}` })}
      <div class="pair">
        {PLAN.field('rank', sent)}
        {PLAN.field('state', sent)}
      </div>
    </>
  )
}

/** A row for each feature of the catalog. A row that is left empty is not part of the plan. */
export function FeatureInputs({ sent: { entered, mistakes }, catalog }: Props & { catalog: readonly Feature[] }) {
  const texts = textsIn(entered)
  const inRows = catalog.some(({ key }) => mistakes[`features.${key}`])
  // Of a feature that was deleted while the form was open, there is no row.
  const lost = [...texts.keys()].filter((key) => !catalog.some((one) => one.key === key))
  return (
    <fieldset>
      <legend>Features</legend>
      {catalog.length === 0 ? (
        <p class="hint">The catalog has no features yet.</p>
      ) : (
        <p class="hint" id="features-hint">
          What the plan includes. Leave a field empty if the plan does not include the feature. A quantity can also be
          “unlimited”. With “per seat”, the value is multiplied by the subscription’s number of seats.
        </p>
      )}
      {catalog.map((feature) => (
        <FeatureField
          feature={feature}
          text={texts.get(feature.key)}
          perSeat={entered.get(PER_SEAT + feature.key) === 'true'}
          wrong={mistakes[`features.${feature.key}`]}
        />
      ))}
      {lost.map((key) => (
        <Wrong>The feature {key} was deleted. If you continue, it is left out.</Wrong>
      ))}
      <Wrong>{!inRows && mistakes.features}</Wrong>
    </fieldset>
  )
}

type FeatureProps = { feature: Feature; text: string | undefined; perSeat: boolean; wrong: string | undefined }

function FeatureField({ feature: { key, name, type }, text, perSeat, wrong }: FeatureProps) {
  const id = VALUE + key
  const about = {
    id,
    name: id,
    autocomplete: 'off',
    'aria-invalid': wrong ? ('true' as const) : undefined,
    'aria-describedby': wrong ? `${id}-wrong` : 'features-hint',
  }
  return (
    <div class="gives">
      <label for={id}>
        <span class="name">{name}</span> <code class="quiet">{key}</code>
      </label>
      <div>
        {type === 'boolean' && <input type="checkbox" value="true" checked={text !== undefined} {...about} />}
        {type === 'quantity' && <input value={text} {...about} />}
        {type === 'config' && (
          <textarea rows={1} spellcheck={false} class="mono" {...about}>
            {text}
          </textarea>
        )}
        <Wrong id={`${id}-wrong`}>{wrong}</Wrong>
      </div>
      {type === 'quantity' && (
        <label class="per-seat">
          <input type="checkbox" name={PER_SEAT + key} value="true" checked={perSeat} autocomplete="off" /> per seat
          <span class="unseen">: {key}</span>
        </label>
      )}
    </div>
  )
}

/** A row for each price of the plan, and a few for new ones. */
export function PriceFields({ sent: { entered, mistakes } }: Props) {
  const prices = pricesIn(entered)
  const spare = Math.max(0, Math.min(SPARE, MAX_PRICES_OF_PLAN - prices.length))
  const blank: MappedPrice = { vendor: 'stripe', ref: '' }
  const rows = [...prices, ...Array.from({ length: spare }, () => blank)]
  return (
    <fieldset>
      <legend>Prices</legend>
      <p class="hint" id="prices-hint">
        The IDs of the prices or products at your vendors that include this plan. To remove one, clear its ID. For a
        one-time price, enter how long a payment lasts: forever, or a duration such as P30D, P6M or P1Y. If that is
        empty, one-time payments do not include the plan. Subscriptions do not need it.
      </p>
      {rows.map(({ vendor, ref, lasts, again }, n) => (
        <div class="entry">
          <select name="vendor" aria-label={`Vendor of price ${n + 1}`} autocomplete="off">
            {STATE_OPTIONS.map(([name, title]) => (
              <option value={name} selected={name === vendor}>
                {title}
              </option>
            ))}
            {STATE_OPTIONS.every(([name]) => name !== vendor) && (
              <option value={vendor} selected>
                {vendorTitle(vendor)}
              </option>
            )}
          </select>
          <input
            name="ref"
            value={ref}
            autocomplete="off"
            spellcheck={false}
            placeholder="price_…"
            aria-label={`ID of price ${n + 1}`}
            aria-describedby="prices-hint"
          />
          <input
            name="lasts"
            value={lasts ?? ''}
            autocomplete="off"
            spellcheck={false}
            size={8}
            placeholder="If one-time: lasts"
            aria-label={`How long a one-time payment of price ${n + 1} lasts`}
            aria-describedby="prices-hint"
          />
          <select name="again" aria-label={`If price ${n + 1} is paid again`} autocomplete="off">
            {AGAIN_OPTIONS.map(([value, title]) => (
              <option value={value} selected={value === (again ?? '')}>
                {title}
              </option>
            ))}
          </select>
        </div>
      ))}
      <Wrong>{mistakes.prices}</Wrong>
    </fieldset>
  )
}
