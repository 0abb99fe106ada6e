import type { Feature } from '../../../catalog/features'
import { PutFeatureBody } from '../../../catalog/fields'
import { MAX_CATALOG_NAME } from '../../../catalog/limits'
import { COMBINES, type Combine, FEATURE_TYPES, type FeatureType } from '../../../catalog/values'
import { catalogKey } from '../../../http/fields'
import { choice, form, text } from '../../form'
import { FromField, fromOf } from '../../from'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { newKeyField } from './key'

/** What each type of feature is, in words. */
export const TYPES: Record<FeatureType, string> = {
  boolean: 'On or off',
  quantity: 'A quantity',
  config: 'Custom JSON',
}

/** How the quantities of several sources become one, in words. */
export const COMBINED: Record<Combine, string> = { max: 'the highest value applies', sum: 'the values are added up' }

const TYPE_OPTIONS = FEATURE_TYPES.map((type) => [type, TYPES[type]] as const)
const COMBINE_OPTIONS = COMBINES.map((combine) => [combine, capital(COMBINED[combine])] as const)

export const FEATURE = form(PutFeatureBody.safeExtend({ key: catalogKey }), {
  name: text('Name', { required: true, maxlength: 2 * MAX_CATALOG_NAME }),
  key: newKeyField('Your code asks for this key. You cannot change it later.'),
  type: choice('Type', TYPE_OPTIONS, { hint: 'You cannot change it later.' }),
  combine: choice('If several sources include it', COMBINE_OPTIONS, {
    hint: 'Use the sum for add-ons. A change takes effect immediately.',
    // The style sheet hides the choice for other types.
    when: (sent) => sent.get('type') === 'quantity',
    empty: undefined,
  }),
})

/** The form of a new feature. The style sheet shows how quantities are combined only for a quantity. */
export function createPage(c: Visit, { mistakes, status, ...filled }: Sent) {
  const { features } = pathsOf(c)
  // Who comes from the steps of a new project gets an example.
  const example =
    fromOf(c) === 'overview' ? FEATURE.opened({ key: 'seats', name: 'Seats', type: 'quantity' }) : undefined
  const sent = { mistakes, entered: filled.entered ?? example }
  return show(
    c,
    { title: 'New feature', section: 'features', above: ['Features', features], status },
    <>
      <Head title="New feature" />
      <Post c={c} to={features} class="form once">
        <FromField c={c} />
        <Wrong>{mistakes.form}</Wrong>
        {FEATURE.field('name', sent)}
        {FEATURE.field('key', sent)}
        <div class="pair of-type">
          {FEATURE.field('type', sent)}
          <div class="of-quantity">{FEATURE.field('combine', sent)}</div>
        </div>
        <SubmitOrCancel label="Create feature" back={features} />
      </Post>
    </>,
  )
}

/** The form that changes the name of a feature, and how its quantities are combined. */
export function editPage(c: Visit, feature: Feature, { mistakes, status, entered }: Sent) {
  const { features } = pathsOf(c)
  const sent = { mistakes, entered: entered ?? FEATURE.opened(feature) }
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
        {FEATURE.field('name', sent)}
        {feature.type === 'quantity' && FEATURE.field('combine', sent)}
        <SubmitOrCancel label="Save" back={features} />
      </Post>
    </>,
  )
}
