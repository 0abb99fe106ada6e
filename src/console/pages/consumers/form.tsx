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
import type { ConsumerMetadata } from '../../../consumers/schema'
import { projectOf } from '../../../http/auth'
import { etagOf } from '../../../http/etag'
import { Fault } from '../../../lib/fault'
import { action } from '../../action'
import { form, own, text } from '../../form'
import { pathsOf } from '../../page'
import { EXPLAINED, type Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { placeOf } from './parts'
import { addressedConsumer, readLiving } from './read'

/** Rows for new entries of metadata. */
const SPARE = 3

/** The fields of a person. @param empty what a field without a text stands for */
const person = (empty?: null) => ({
  email: text('Email address', { type: 'email', maxlength: MAX_CONSUMER_EMAIL, empty }),
  name: text('Name', { maxlength: 2 * MAX_CONSUMER_NAME, empty }),
  metadata: own(
    (_, sent) => metadataIn(sent),
    (sent) => sent.has('key'),
  ),
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
  external_id: text('Add another ID of yours', { maxlength: MAX_EXTERNAL_ID }),
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
    const { db, now } = c.get('rt')
    return insertConsumer(db, projectOf(c.get('actor')), CONSUMER.body(c.get('form')), { now })
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_created'],
})

/** It changes only what the user has seen. */
const edit = action({
  at: '/:consumer/edit',
  needs: 'consumers:write',
  read: readLiving,
  ask: (c, row, { mistakes, status, entered = opened(row) }) => {
    const { path, view } = placeOf(c, row)
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
    const { db, now } = c.get('rt')
    const form = c.get('form')
    return updateConsumer(db, addressedConsumer(c), CHANGED.body(form), { ifMatch: form.get('etag') ?? '', now })
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
      <MetadataFields {...sent} />
    </>
  )
}

function keptIds({ external_ids }: Consumer): string {
  const named = external_ids.slice(0, 3).join(', ')
  const kept = external_ids.length > 0 ? `: ${named}${external_ids.length > 3 ? ', …' : ''}` : ''
  return `The consumer keeps the IDs that it has${kept}. An ID cannot be removed.`
}

function opened({ metadata, ...row }: Consumer): URLSearchParams {
  const entered = CHANGED.opened(row)
  for (const [key, value] of Object.entries(metadata)) {
    entered.append('key', key)
    entered.append('value', value)
  }
  return entered
}

/** The entries of metadata in a form. A browser sends every line break as CRLF. */
function pairsIn(sent: URLSearchParams): [key: string, value: string][] {
  const values = sent.getAll('value')
  const pairs = sent
    .getAll('key')
    .map((key, n): [string, string] => [key.trim(), (values[n] ?? '').replaceAll('\r\n', '\n')])
  return pairs.filter(([key, value]) => key !== '' || value !== '')
}

/** The metadata of a form. @throws {Fault} `validation_failed` for a value without a key, or a key that is there twice */
function metadataIn(sent: URLSearchParams): ConsumerMetadata {
  const pairs = pairsIn(sent)
  const keys = pairs.map(([key]) => key)
  if (keys.includes('')) throw wrongMetadata('must have a key for every value')
  if (new Set(keys).size < keys.length) throw wrongMetadata('must not have the same key twice')
  return Object.fromEntries(pairs)
}

function wrongMetadata(message: string): Fault {
  return new Fault('validation_failed', 'The metadata is not valid.', {
    errors: [{ pointer: '/metadata', code: 'malformed', message }],
  })
}

/** A row for each entry of metadata, and a few for new ones. */
function MetadataFields({ entered, mistakes }: Filled) {
  const metadata = entered ? pairsIn(entered) : []
  const spare = Math.max(0, Math.min(SPARE, MAX_METADATA - metadata.length))
  const rows = [...metadata, ...Array.from({ length: spare }, (): [string, string] => ['', ''])]
  return (
    <fieldset>
      <legend>Metadata</legend>
      <p class="hint" id="metadata-hint">
        Texts of your own, up to {MAX_METADATA}. To remove an entry, clear its key and its value.
      </p>
      {rows.map(([key, value], n) => (
        <div class="entry">
          <input
            name="key"
            value={key}
            maxlength={MAX_METADATA_KEY}
            autocomplete="off"
            aria-label={`Key of entry ${n + 1}`}
            aria-describedby="metadata-hint"
            placeholder="Key"
          />
          <textarea name="value" rows={1} autocomplete="off" aria-label={`Value of entry ${n + 1}`} placeholder="Value">
            {value}
          </textarea>
        </div>
      ))}
      <Wrong>{mistakes.metadata}</Wrong>
    </fieldset>
  )
}
