import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { sentence } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { BLANK, type Entered, ExternalIdField, MetadataFields, PersonFields } from './fields'

/** What the field of an external id says about itself. */
export const EXTERNAL_ID_HINT =
  'The ID that your own systems use for this person: letters, digits and the characters . _ : @ | + -'

/** The form for a new consumer. */
export function createPage(c: Context<HttpEnv>, entered: Entered = BLANK, { mistakes, status } = UNSENT) {
  const { consumers } = pathsOf(c)
  return show(
    c,
    { title: 'New consumer', section: 'consumers', above: ['Consumers', consumers], status },
    <>
      <Head title="New consumer" />
      <p class="quiet">
        Usually your server creates consumers, with <code>PUT /consumers/ext:…</code>. All fields are optional.
      </p>
      <Post c={c} to={consumers} class="form once">
        <Wrong>{mistakes.form && sentence(mistakes.form)}</Wrong>
        <ExternalIdField entered={entered} mistakes={mistakes} label="Your ID" hint={EXTERNAL_ID_HINT} />
        <PersonFields entered={entered} mistakes={mistakes} />
        <MetadataFields entered={entered} mistakes={mistakes} />
        <SubmitOrCancel label="Create consumer" back={consumers} />
      </Post>
    </>,
  )
}
