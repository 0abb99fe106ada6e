import {
  MAX_CONSUMER_EMAIL,
  MAX_CONSUMER_NAME,
  MAX_EXTERNAL_ID,
  MAX_METADATA,
  MAX_METADATA_KEY,
} from '../../../consumers/limits'
import type { Consumer } from '../../../consumers/read'
import type { ConsumerMetadata } from '../../../consumers/schema'
import { Fault } from '../../../lib/fault'
import type { Mistakes } from '../../refusal'
import { Field, Wrong } from '../../ui/controls'

/** What a form about a consumer was filled in with. */
export type Entered = { external_id: string; email: string; name: string; metadata: [key: string, value: string][] }
/** The form of a new consumer. */
export const BLANK: Entered = { external_id: '', email: '', name: '', metadata: [] }

/** Rows for new entries of metadata. */
const SPARE = 3

/** The form as it is opened for a consumer. */
export function enteredFrom({ email, name, metadata }: Consumer): Entered {
  return { external_id: '', email: email ?? '', name: name ?? '', metadata: Object.entries(metadata) }
}

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  const values = form.getAll('value')
  const pairs = form.getAll('key').map((key, n): [string, string] => [
    key.trim(),
    // A browser sends every line break as CRLF.
    (values[n] ?? '').replaceAll('\r\n', '\n'),
  ])
  const metadata = pairs.filter(([key, value]) => key !== '' || value !== '')
  return { external_id: text('external_id'), email: text('email'), name: text('name'), metadata }
}

/** The metadata of a form. @throws {Fault} `validation_failed` for a value without a key, or a key that is there twice */
export function metadataIn(pairs: Entered['metadata']): ConsumerMetadata {
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

type FieldsProps = { entered: Entered; mistakes: Mistakes }

export function ExternalIdField({ entered, mistakes, label, hint }: FieldsProps & { label: string; hint: string }) {
  return (
    <Field
      name="external_id"
      label={label}
      value={entered.external_id}
      maxlength={MAX_EXTERNAL_ID}
      hint={hint}
      mistakes={mistakes}
    />
  )
}

export function PersonFields({ entered, mistakes }: FieldsProps) {
  return (
    <>
      <Field
        name="email"
        label="Email address"
        type="email"
        value={entered.email}
        maxlength={MAX_CONSUMER_EMAIL}
        mistakes={mistakes}
      />
      <Field name="name" label="Name" value={entered.name} maxlength={2 * MAX_CONSUMER_NAME} mistakes={mistakes} />
    </>
  )
}

/** A row for each entry of metadata, and a few for new ones. */
export function MetadataFields({ entered: { metadata }, mistakes }: FieldsProps) {
  const spare = Math.max(0, Math.min(SPARE, MAX_METADATA - metadata.length))
  const rows = [...metadata, ...Array.from({ length: spare }, (): [string, string] => ['', ''])]
  return (
    <fieldset>
      <legend>ConsumerMetadata</legend>
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
