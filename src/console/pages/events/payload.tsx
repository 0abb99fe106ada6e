import type { EventRow } from '../../../inbox/events/events'
import { bytesOf, isKept } from '../../../inbox/payload'
import { plural } from '../../ui/format'
import { JsonTree } from './json-tree'
import { firstInHtml, hexDump, indented, treeOf } from './payload-text'

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
}

/** The payload in a readable form and as bytes, with the headers kept of its delivery. */
export function PayloadView({ row, headers, at, used }: PayloadProps) {
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
        <h2>Payload</h2>
        <div class="actions">
          <button type="button" data-copy-from={`${at}/payload`} hidden>
            Copy<span class="unseen"> payload</span>
          </button>
          <a class="button" href={`${at}/payload`}>
            Download
          </a>
        </div>
      </div>
      <p class="quiet">{plural(bytes.length, 'byte')}, exactly as received.</p>
      <Readable text={row.text} most={TEXT_SHOWN - used} />
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

function Readable({ text, most }: { text: string | null; most: number }) {
  if (text === null) return <p>The payload is not UTF-8 text. Its raw bytes are below.</p>
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
