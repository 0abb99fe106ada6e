import type { EventRow } from '../../../inbox/events/events'
import { bytesOf, isKept } from '../../../inbox/payload'
import { plural, bytes as sizeOf } from '../../ui/format'
import { JsonTree } from './json-tree'
import { type FoundText, findIn, MAX_FIND } from './payload-search'
import { firstInHtml, hexDump, indented, isJson, treeOf } from './payload-text'

/*
 * The part of a payload that a page shows, so that the page stays below 60 KB whatever the payload is. The download has
 * all of it.
 */

/** Bytes of HTML for the text, or for JSON in colors, and for what changed. */
const TEXT_SHOWN = 24_000
/** Levels of JSON in colors. */
const LEVELS = 24
/** Bytes of the hex dump. */
const BYTES_SHOWN = 512

type PayloadProps = {
  row: EventRow
  headers: Record<string, string> | null
  /** The path of the event. */
  at: string
  /** Bytes of HTML that the page has for what changed. */
  used: number
  /** What to search the payload for; empty for nothing. */
  find: string
  /** The filters of the list that the event is looked at in, as the address has them. */
  list: string
}

/** The payload in a readable form and as bytes, with the headers kept of its delivery. */
export function PayloadView({ row, headers, at, used, find, list }: PayloadProps) {
  if (!isKept(row)) {
    return (
      <>
        <h2>Payload</h2>
        <p class="quiet">
          The payload is no longer stored: its retention period has ended, or its consumer was erased.
        </p>
      </>
    )
  }
  const bytes = bytesOf(row)
  return (
    <>
      <div class="head">
        <h2 id="payload">Payload</h2>
        <div class="actions">
          <button type="button" data-copy-from={`${at}/payload`} hidden>
            Copy<span class="unseen"> payload</span>
          </button>
          <a class="button" href={`${at}/payload`}>
            Download
          </a>
        </div>
      </div>
      <p class="quiet">{sizeOf(bytes.length)}, exactly as received.</p>
      <Search text={row.text} at={at} find={find} list={list} />
      <Readable text={row.text} most={TEXT_SHOWN - used} find={find} />
      <details class="raw">
        <summary>Raw bytes</summary>
        <section class="code" aria-label="Raw bytes" tabindex={0}>
          <pre>{hexDump(bytes.subarray(0, BYTES_SHOWN))}</pre>
        </section>
        {bytes.length > BYTES_SHOWN && (
          <p class="quiet">The first {BYTES_SHOWN} bytes. The download has all of them.</p>
        )}
      </details>
      <Headers of={headers} />
    </>
  )
}

type SearchProps = Pick<PayloadProps, 'at' | 'find' | 'list'> & { text: string | null }

/** Searches JSON: the page comes again with what was found. */
function Search({ text, at, find, list }: SearchProps) {
  if (text === null || !isJson(text)) return null
  return (
    <search>
      <form class="payload-find" method="get" action={`${at}#payload`}>
        {list !== '' && <input type="hidden" name="list" value={list} />}
        <input
          type="search"
          name="find"
          value={find}
          maxlength={MAX_FIND}
          aria-label="Find in the payload"
          placeholder="Name or value"
        />
        <button type="submit">Find</button>
        {find !== '' && <a href={`${at}${list === '' ? '' : `?${new URLSearchParams({ list })}`}#payload`}>Show all</a>}
      </form>
    </search>
  )
}

/** What was found in a payload. */
function FoundIn({ of, find }: { of: FoundText; find: string }) {
  if (of.matches === 0) return <p role="status">Nothing in the payload contains “{find}”.</p>
  return (
    <>
      <p role="status">
        Found {plural(of.matches, 'time')}. Only the matching parts of the payload are shown
        {of.cut && ', as far as they fit'}.
      </p>
      {of.tree && (
        <section class="code wrap" aria-label="Payload as JSON" tabindex={0}>
          <JsonTree of={of.tree} find={find} />
        </section>
      )}
    </>
  )
}

function Readable({ text, most, find }: { text: string | null; most: number; find: string }) {
  if (text === null) return <p>The payload is not UTF-8 text. Its raw bytes are below.</p>
  const found = find === '' ? null : findIn(text, find, { bytes: most, levels: LEVELS })
  if (found) return <FoundIn of={found} find={find} />
  const tree = treeOf(text, { bytes: most, levels: LEVELS })
  if (tree) {
    return (
      <section class="code wrap" aria-label="Payload as JSON" tabindex={0}>
        <JsonTree of={tree} />
      </section>
    )
  }
  const json = indented(text, most)
  const whole = json ?? text
  const shown = firstInHtml(whole, most)
  return (
    <>
      <section class="code wrap" aria-label={json === null ? 'Payload as text' : 'Payload as JSON'} tabindex={0}>
        <pre>{shown}</pre>
      </section>
      {shown.length < whole.length && (
        <p class="quiet">The payload is too large to show all of it here. The download has the rest.</p>
      )}
    </>
  )
}

/** The headers that decoding needs. Secrets are never among them. */
function Headers({ of }: { of: Record<string, string> | null }) {
  // Names that no header can have are notes of the vendor's for decoding.
  const headers = Object.entries(of ?? {}).filter(([name]) => !name.startsWith(':'))
  if (headers.length === 0) return null
  return (
    <>
      <h2>Stored headers of the delivery</h2>
      <dl class="pairs">
        {headers.map(([name, value]) => (
          <div>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
