import type { ConsumerMetadata } from '../../../consumers/schema'
import { Fault } from '../../../lib/fault'
import { own } from '../../form'
import type { Sent } from '../../refusal'
import { Wrong } from '../../ui/controls'

/** Rows for new entries of metadata. */
const SPARE = 3

/** The field of metadata, which {@link MetadataFields} shows. */
export const METADATA = own(
  (_, sent) => metadataIn(sent),
  (sent) => sent.has('key'),
)

/** Adds stored metadata to a form that is opened. */
export function withMetadata(entered: URLSearchParams, metadata: ConsumerMetadata): URLSearchParams {
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

type FieldsProps = Pick<Sent, 'entered' | 'mistakes'> & {
  /** How much there can be, in words. */
  limit: string
  /** How many entries there can be, if that is limited. */
  most?: number
  /** Characters of a key. */
  maxlength: number
}

/** A row for each entry of metadata, and a few for new ones. */
export function MetadataFields({ entered, mistakes, limit, most = Number.POSITIVE_INFINITY, maxlength }: FieldsProps) {
  const metadata = entered ? pairsIn(entered) : []
  const spare = Math.max(0, Math.min(SPARE, most - metadata.length))
  const rows = [...metadata, ...Array.from({ length: spare }, (): [string, string] => ['', ''])]
  return (
    <fieldset>
      <legend>Metadata</legend>
      <p class="hint" id="metadata-hint">
        Your own keys and values, {limit}. To remove an entry, clear its key and its value.
      </p>
      {rows.map(([key, value], n) => (
        <div class="entry">
          <input
            name="key"
            value={key}
            maxlength={maxlength}
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
