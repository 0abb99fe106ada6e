import type { Feature } from '../../../catalog/features'
import { MAX_CATALOG_NAME, MAX_PRICES_OF_PLAN, MAX_RANK } from '../../../catalog/limits'
import { PLAN_STATES } from '../../../catalog/schema'
import { MAX_KEY } from '../../../lib/catalog-key'
import type { Mistakes } from '../../refusal'
import { Field, Select, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { STATE_OPTIONS, vendorTitle } from '../../ui/vendor-titles'
import { type Entered, PER_SEAT, VALUE } from './entered'

/** Rows for new prices. */
const SPARE = 2

type Props = { entered: Entered; mistakes: Mistakes }

export function PlanFields({ entered, mistakes }: Props) {
  return (
    <>
      <Field
        name="key"
        label="Key"
        value={entered.key}
        required
        maxlength={MAX_KEY}
        hint="The name of the plan in your code. It starts with a letter; after that, use a to z, 0 to 9 and _ . - only."
        mistakes={mistakes}
      />
      <Field
        name="name"
        label="Name"
        value={entered.name}
        required
        maxlength={2 * MAX_CATALOG_NAME}
        mistakes={mistakes}
      />
      <div class="pair">
        <Field
          name="rank"
          label="Rank"
          type="number"
          value={entered.rank}
          required
          hint={`From 0 to ${MAX_RANK}. Of several plans with the same JSON feature, the highest rank counts.`}
          mistakes={mistakes}
        />
        <Field
          name="state"
          label="State"
          hint="This is only a label: consumers who have an archived plan keep it."
          mistakes={mistakes}
        >
          <Select name="state" value={entered.state} options={PLAN_STATES.map((state) => [state, capital(state)])} />
        </Field>
      </div>
    </>
  )
}

/** A row for each feature of the catalog. A row that is left empty is not part of the plan. */
export function FeatureFields({ entered, mistakes, catalog }: Props & { catalog: readonly Feature[] }) {
  // Of a feature that was deleted while the form was open, there is no row.
  const lost = Object.keys(entered.features).filter((key) => !catalog.some((one) => one.key === key))
  return (
    <fieldset>
      <legend>Features</legend>
      {catalog.length === 0 ? (
        <p class="hint">The catalog has no features yet.</p>
      ) : (
        <p class="hint" id="features-hint">
          What the plan includes. Leave a field empty if the plan does not include the feature. A quantity can also be
          “unlimited”.
        </p>
      )}
      {catalog.map((feature) => (
        <FeatureField
          feature={feature}
          of={entered.features[feature.key]}
          wrong={mistakes[`features.${feature.key}`]}
        />
      ))}
      {lost.map((key) => (
        <Wrong>The feature {key} was deleted. If you continue, it is left out.</Wrong>
      ))}
      <Wrong>{mistakes.features}</Wrong>
    </fieldset>
  )
}

type FeatureProps = { feature: Feature; of: Entered['features'][string] | undefined; wrong: string | undefined }

function FeatureField({ feature: { key, name, type }, of, wrong }: FeatureProps) {
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
        {type === 'boolean' && <input type="checkbox" value="true" checked={of !== undefined} {...about} />}
        {type === 'quantity' && <input value={of?.text} {...about} />}
        {type === 'config' && (
          <textarea rows={1} spellcheck={false} class="mono" {...about}>
            {of?.text}
          </textarea>
        )}
        <Wrong id={`${id}-wrong`}>{wrong}</Wrong>
      </div>
      {type === 'quantity' && (
        <label class="per-seat">
          <input type="checkbox" name={PER_SEAT + key} value="true" checked={of?.per_seat} autocomplete="off" /> per
          seat<span class="unseen">: {key}</span>
        </label>
      )}
    </div>
  )
}

/** A row for each price of the plan, and a few for new ones. */
export function PriceFields({ entered: { prices }, mistakes }: Props) {
  const spare = Math.max(0, Math.min(SPARE, MAX_PRICES_OF_PLAN - prices.length))
  const rows = [...prices, ...Array.from({ length: spare }, () => ({ vendor: 'stripe', ref: '' }))]
  return (
    <fieldset>
      <legend>Prices</legend>
      <p class="hint" id="prices-hint">
        The IDs of your vendors’ prices or products that stand for the plan. To remove one, clear its ID.
      </p>
      {rows.map(({ vendor, ref }, n) => (
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
        </div>
      ))}
      <Wrong>{mistakes.prices}</Wrong>
    </fieldset>
  )
}
