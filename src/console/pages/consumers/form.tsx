import { updateConsumer } from '../../../consumers/change'
import { CreateConsumerBody, UpdateConsumerBody } from '../../../consumers/fields'
import {
  MAX_CONSUMER_EMAIL,
  MAX_CONSUMER_NAME,
  MAX_EXTERNAL_ID,
  MAX_METADATA,
  MAX_METADATA_KEY,
} from '../../../consumers/limits'
import { insertConsumer } from '../../../consumers/put'
import type { Consumer } from '../../../consumers/read'
import { changeOf, projectOf } from '../../../http/auth'
import { etagOf } from '../../../http/etag'
import { action } from '../../action'
import { form, text } from '../../form'
import { pathsOf } from '../../page'
import { EXPLAINED, type Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { METADATA, MetadataFields, withMetadata } from './metadata'
import { placeOfConsumer } from './parts'
import { addressedConsumer, readLiving } from './read'

/** The fields of a person. @param empty what a field without a text stands for */
const person = (empty?: null) => ({
  email: text('Email address', { type: 'email', maxlength: MAX_CONSUMER_EMAIL, empty }),
  name: text('Name', { maxlength: 2 * MAX_CONSUMER_NAME, empty }),
  metadata: METADATA,
})

/** The form of a new consumer. */
export const CONSUMER = form(CreateConsumerBody, {
  external_id: text('Your ID', {
    maxlength: MAX_EXTERNAL_ID,
    hint: 'The ID that your own systems use for this person: letters, digits and the characters . _ : @ | + -',
  }),
  ...person(),
})

const CHANGED = form(UpdateConsumerBody, {
  external_id: text('Add another of your IDs', { maxlength: MAX_EXTERNAL_ID }),
  ...person(null),
})

const create = action({
  at: '/new',
  posts: '/',
  needs: 'consumers:write',
  ask: (c, _, sent) => {
    const { consumers } = pathsOf(c)
    return show(
      c,
      { title: 'New consumer', section: 'consumers', above: ['Consumers', consumers], status: sent.status },
      <>
        <Head title="New consumer" />
        <p class="quiet">
          Usually your server creates consumers, with <code>PUT /consumers/ext:…</code>. All fields are optional.
        </p>
        <Post c={c} to={consumers} class="form once">
          <Wrong>{sent.mistakes.form}</Wrong>
          {CONSUMER.field('external_id', sent)}
          <PersonFields of={CONSUMER} sent={sent} />
          <SubmitOrCancel label="Create consumer" back={consumers} />
        </Post>
      </>,
    )
  },
  run: (c) => {
    const { db } = c.get('rt')
    return insertConsumer(db, projectOf(c.get('actor')), CONSUMER.body(c.get('form')), changeOf(c))
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_created'],
})

/** It changes only what the user has seen. */
const edit = action({
  at: '/:consumer/edit',
  needs: 'consumers:write',
  read: readLiving,
  ask: (c, row, { mistakes, status, entered = opened(row) }) => {
    const { path, view } = placeOfConsumer(c, row)
    const sent = { mistakes, entered }
    return show(
      c,
      { ...view, title: 'Edit consumer', status },
      <>
        <Head title="Edit consumer" />
        <Post c={c} to={`${path}/edit`} class="form">
          <input type="hidden" name="etag" value={etagOf(row.revision)} autocomplete="off" />
          <Wrong>{mistakes.form}</Wrong>
          <PersonFields of={CHANGED} sent={sent} />
          {CHANGED.field('external_id', sent, { hint: keptIds(row) })}
          <SubmitOrCancel label="Save" back={path} />
        </Post>
      </>,
    )
  },
  run: (c) => {
    const form = c.get('form')
    const how = { ifMatch: form.get('etag') ?? '', ...changeOf(c) }
    return updateConsumer(c.get('rt').db, addressedConsumer(c), CHANGED.body(form), how)
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_changed'],
  explains: EXPLAINED.consumer,
})

/** A form as it was filled in, and what is wrong with it. */
type Filled = Pick<Sent, 'entered' | 'mistakes'>

/** The forms that create and change a consumer. */
export const formPages = [create, edit]

/** The fields of a {@link person}, where both forms show them. */
function PersonFields({ of, sent }: { of: typeof CONSUMER | typeof CHANGED; sent: Filled }) {
  return (
    <>
      {of.field('email', sent)}
      {of.field('name', sent)}
      <MetadataFields {...sent} limit={`up to ${MAX_METADATA}`} most={MAX_METADATA} maxlength={MAX_METADATA_KEY} />
    </>
  )
}

function keptIds({ external_ids }: Consumer): string {
  const named = external_ids.slice(0, 3).join(', ')
  const kept = external_ids.length > 0 ? `: ${named}${external_ids.length > 3 ? ', …' : ''}` : ''
  return `The consumer keeps its current IDs${kept}. An ID cannot be removed.`
}

function opened({ metadata, ...row }: Consumer): URLSearchParams {
  return withMetadata(CHANGED.opened(row), metadata)
}
