import type { EventRow } from '../../../inbox/events/store'
import { bytesOf, isKept } from '../../../inbox/payload'
import { hexDump, indented } from './payload-text'

/** How much of a payload the page shows, in characters and in bytes. The download has all of it. */
const TEXT_SHOWN = 16_000
const BYTES_SHOWN = 1024

/** The payload as JSON and as bytes. @param at the path of the event's page */
export function Payload({ row, at }: { row: EventRow; at: string }) {
  if (!isKept(row)) return <p class="quiet">The payload is no longer stored: its retention period has ended.</p>
  const bytes = bytesOf(row)
  const json = row.text === null ? null : indented(row.text, TEXT_SHOWN)
  const text = json ?? row.text ?? 'The payload is not UTF-8 text.'
  return (
    <>
      <h2>Payload</h2>
      <p>
        {bytes.length.toLocaleString('en')} bytes, exactly as received. <a href={`${at}/payload`}>Download</a>
      </p>
      <section class="code wrap" aria-label="Payload as JSON" tabindex={0}>
        <pre>{text.slice(0, TEXT_SHOWN)}</pre>
      </section>
      {text.length > TEXT_SHOWN && (
        <p class="quiet">Only the beginning is shown. Download the payload to see all of it.</p>
      )}
      <details>
        <summary>Raw bytes</summary>
        <section class="code" aria-label="Raw bytes" tabindex={0}>
          <pre>{hexDump(bytes.subarray(0, BYTES_SHOWN))}</pre>
        </section>
        {bytes.length > BYTES_SHOWN && (
          <p class="quiet">Only the first {BYTES_SHOWN.toLocaleString('en')} bytes are shown.</p>
        )}
      </details>
    </>
  )
}
