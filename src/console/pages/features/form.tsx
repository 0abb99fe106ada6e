import type { Context } from 'hono'
import type { Feature } from '../../../catalog/features-store'
import { MAX_KEY, MAX_NAME } from '../../../catalog/limits'
import { COMBINES, FEATURE_TYPES } from '../../../catalog/values'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Field, Post, Select, SubmitOrCancel, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { COMBINED, TYPES } from './words'

/** What a form about a feature was filled in with. */
export type Entered = { key: string; name: string; type: string; combine: string }
export const BLANK: Entered = { key: '', name: '', type: 'boolean', combine: 'max' }

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return { key: text('key'), name: text('name'), type: text('type'), combine: text('combine') }
}

const TYPE_OPTIONS = FEATURE_TYPES.map((type) => [type, TYPES[type]] as const)
const COMBINE_OPTIONS = COMBINES.map((combine) => [combine, capital(COMBINED[combine])] as const)

/** The form of a new feature. The style sheet shows how quantities are combined only for a quantity. */
export function createPage(c: Context<HttpEnv>, entered: Entered = BLANK, { mistakes, status } = UNSENT) {
  const { features } = pathsOf(c)
  return show(
    c,
    { title: 'New feature', section: 'features', above: ['Features', features], status },
    <>
      <Head title="New feature" />
      <Post c={c} to={features} class="form once">
        <Wrong>{mistakes.form}</Wrong>
        <Field
          name="key"
          label="Key"
          value={entered.key}
          required
          maxlength={MAX_KEY}
          hint="Your code asks for this key. It starts with a letter; after that, use a to z, 0 to 9 and _ . - only. It cannot change."
          mistakes={mistakes}
        />
        <Name value={entered.name} mistakes={mistakes} />
        <div class="pair of-type">
          <Field name="type" label="Type" hint="It cannot change." mistakes={mistakes}>
            <Select name="type" value={entered.type} options={TYPE_OPTIONS} />
          </Field>
          <div class="of-quantity">
            <Combine value={entered.combine} mistakes={mistakes} />
          </div>
        </div>
        <SubmitOrCancel label="Create feature" back={features} />
      </Post>
    </>,
  )
}

/** The form that changes the name of a feature, and how its quantities are combined. */
export function editPage(c: Context<HttpEnv>, feature: Feature, entered: Entered, { mistakes, status } = UNSENT) {
  const { features } = pathsOf(c)
  return show(
    c,
    { title: 'Edit feature', section: 'features', above: ['Features', features], status },
    <>
      <Head title="Edit feature" />
      <Post c={c} to={`${features}/${feature.key}/edit`} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <dl class="facts">
          <Fact name="Key">
            <code>{feature.key}</code>
          </Fact>
          <Fact name="Type">{TYPES[feature.type]}</Fact>
        </dl>
        <Name value={entered.name} mistakes={mistakes} />
        {feature.type === 'quantity' && <Combine value={entered.combine} mistakes={mistakes} />}
        <SubmitOrCancel label="Save" back={features} />
      </Post>
    </>,
  )
}

type PartProps = { value: string; mistakes: (typeof UNSENT)['mistakes'] }

function Name({ value, mistakes }: PartProps) {
  return <Field name="name" label="Name" value={value} required maxlength={2 * MAX_NAME} mistakes={mistakes} />
}

function Combine({ value, mistakes }: PartProps) {
  return (
    <Field
      name="combine"
      label="If several sources give it"
      hint="Use the sum for add-ons. A change takes effect at once."
      mistakes={mistakes}
    >
      <Select name="combine" value={value} options={COMBINE_OPTIONS} />
    </Field>
  )
}
