import type { AttemptRow } from '../../../inbox/attempts'
import type { EventRow } from '../../../inbox/events/events'
import { Badge } from '../../ui/badge'
import { duration, plural } from '../../ui/format'
import { Time } from '../../ui/parts'

/** The number of attempts on the page, and the characters of an error in their list. */
export const ATTEMPTS = 15
const ERROR_SHOWN = 120

const TRIGGERS: Record<AttemptRow['trigger'], string> = {
  ingest: 'After the delivery',
  retry: 'Automatic retry',
  sweep: 'Queued again, because it was still waiting',
  replay: 'Replay',
}

type AttemptsProps = {
  row: EventRow
  /** The latest first. */
  rows: readonly AttemptRow[]
  /** Of the users and API keys that requested them, by id. */
  names: ReadonlyMap<string, string>
  now: number
}

/** The last attempts to process an event. */
export function Attempts({ row, rows, names, now }: AttemptsProps) {
  return (
    <>
      <h2>Attempts</h2>
      {rows.length === 0 ? (
        <p class="quiet">No attempt has finished yet.</p>
      ) : (
        <ol class="attempts">
          {rows.map((attempt) => (
            <li value={attempt.number}>
              <One of={attempt} names={names} now={now} repeated={attempt.error === row.last_error} />
            </li>
          ))}
        </ol>
      )}
      {rows.length === ATTEMPTS && row.attempts > ATTEMPTS && (
        <p class="quiet">
          The last {ATTEMPTS} of {plural(row.attempts, 'attempt')} are shown. Use the API to list all of them.
        </p>
      )}
    </>
  )
}

type OneProps = { of: AttemptRow; names: AttemptsProps['names']; now: number; repeated: boolean }

/** @param repeated whether the page shows this attempt's error already */
function One({ of, names, now, repeated }: OneProps) {
  const { number, trigger, actor, outcome, error } = of
  return (
    <>
      <span class="spread">
        <span>
          <span class="quiet">#{number}</span> {TRIGGERS[trigger]}
          {actor && (
            <>
              {' by '}
              {names.get(actor) ?? <code>{actor}</code>}
            </>
          )}
        </span>
        <Badge of={outcome} />
      </span>
      <span class="quiet">
        <Time at={of.started_at} now={now} />, took {duration(of.finished_at - of.started_at)}
      </span>
      {error && !repeated && <span class="error">{short(error)}</span>}
    </>
  )
}

const short = (text: string) => (text.length > ERROR_SHOWN ? `${text.slice(0, ERROR_SHOWN)}…` : text)
