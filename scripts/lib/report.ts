import { type EventRecord, isFinal } from './deliver.ts'
import { printTable } from './terminal.ts'

/** The result of sending a file: the ids of its events, or why it was refused. */
export type Sent = {
  file: string
  body: Buffer<ArrayBuffer>
  ids: string[]
  duplicate: boolean
  error: string | null
}

const PROBLEMS = ['refused', 'not recorded', 'stuck', 'failed', 'not identical'] as const
type Row = { cells: string[]; problem: (typeof PROBLEMS)[number] | null; isIgnored?: boolean }

/** Prints a row for each file: whether it was accepted. @returns whether all were */
export function reportReceipts(sent: readonly Sent[]): boolean {
  console.log()
  printTable(
    ['file', 'result', 'event id', 'error'],
    sent.map(({ file, ids, duplicate, error }) => [
      file,
      error !== null ? 'refused' : duplicate ? 'accepted before' : 'accepted',
      ids.join(', '),
      error ?? '',
    ]),
  )
  return sent.every(({ error }) => error === null)
}

/**
 * Prints a row for each event and a summary.
 *
 * @param how.ms how long it took
 * @param how.connection the address of the connection's page, if the user has named the connection
 * @returns whether every event succeeded with identical bytes
 */
export function reportSent(
  sent: readonly Sent[],
  events: ReadonlyMap<string, EventRecord>,
  { ms, connection }: { ms: number; connection: string | null },
): boolean {
  const rows = sent.flatMap((one) => describe(one, events))
  console.log()
  printTable(
    ['file', 'event type', 'event id', 'status', 'attempts', 'identical', 'error'],
    rows.map(({ cells }) => cells),
  )
  const count = (problem: Row['problem']) => rows.filter((row) => row.problem === problem).length
  const duplicates = sent.filter((one) => one.duplicate).length
  const parts = [`${count(null)} of ${rows.length} events succeeded with identical bytes`]
  const ignored = rows.filter(({ isIgnored, problem }) => isIgnored && problem === null).length
  if (ignored > 0) parts.push(`${ignored} of these were ignored and change no billing state`)
  for (const problem of PROBLEMS) if (count(problem) > 0) parts.push(`${count(problem)} ${problem}`)
  if (duplicates > 0) parts.push(`${duplicates} were duplicates`)
  console.log(`\n${parts.join(', ')}; ${(ms / 1000).toFixed(1)} s.`)
  if (sent.some((one) => one.error?.includes('signature_mismatch'))) {
    console.log(
      connection === null
        ? 'A signature mismatch means that the connection has another secret, or that .dev.vars was recreated. Use --fresh to create a new connection.'
        : `A signature mismatch means that the connection has another secret: check --signing-secret. The connection's page says why deliveries were refused: ${connection}`,
    )
  }
  return count(null) === rows.length
}

/** A row for each event of a file. Some vendors send several events in one request. */
function describe({ file, body, ids, duplicate, error }: Sent, events: ReadonlyMap<string, EventRecord>): Row[] {
  if (ids.length === 0) return [{ cells: [file, '', '', 'refused', '', '', error ?? ''], problem: 'refused' }]
  return ids.map((id) => {
    const event = events.get(id)
    if (!event) return { cells: [file, '', id, 'not recorded', '', '', ''], problem: 'not recorded' }
    const identical = event.raw_payload_b64 !== null && Buffer.from(event.raw_payload_b64, 'base64').equals(body)
    const status = duplicate ? `${event.status} (delivery ${event.deliveries})` : event.status
    const note =
      event.last_error ?? (!identical && duplicate ? 'this event id was sent before with different bytes' : '')
    return {
      cells: [file, event.event_type, id, status, String(event.processing_attempts), identical ? 'yes' : 'NO', note],
      isIgnored: event.status === 'ignored',
      problem: !isFinal(event) ? 'stuck' : event.status === 'failed' ? 'failed' : identical ? null : 'not identical',
    }
  })
}
