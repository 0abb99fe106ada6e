import { MAX_BEFORE_BYTES } from '../../../inbox/events/limits'
import type { ObjectChange } from '../../../inbox/events/object-change'
import type { JsonDifference } from '../../../lib/json-differences'
import { SECOND } from '../../../lib/time'
import { type Difference, Differences, inLine } from '../../ui/differences'
import { bytes, exact } from '../../ui/format'
import { bytesInHtml } from './payload-text'

/** How many changed values are shown. */
const SHOWN = 12

type ChangedProps = { of: ObjectChange | null; events: string; vendor: string }

/** What of the vendor's object is different from before the event, and how that is known. @param vendor its title */
export function ObjectChanged({ of, events, vendor }: ChangedProps) {
  if (of === null) return null
  return (
    <section aria-labelledby="changed">
      <h2 id="changed">Changed fields</h2>
      {'differences' in of &&
        (of.differences.length > 0 ? <Differences of={of.differences.map(shownAs)} most={SHOWN} /> : <p>Nothing.</p>)}
      <p class="quiet">
        <Known of={of} events={events} vendor={vendor} />
      </p>
    </section>
  )
}

/** Fields whose numbers are times in seconds: `created`, `trial_end`, `cancel_at`, `billing_cycle_anchor`. */
const TIMES = /(^|[._])(created|updated|at|start|end|date|anchor|until|expires)$/

/** A difference with times as the console writes them. */
function shownAs({ path, from, to }: JsonDifference): Difference {
  const timed = (text: string | null) =>
    text !== null && TIMES.test(path) && /^[12]\d{9}$/.test(text) ? exact(Number(text) * SECOND) : text
  return { what: path, from: timed(from), to: timed(to) }
}

/** Bytes of HTML around a value that changed. */
const MARKS = 50

/** About how many bytes of HTML the changes take. */
export function changesInHtml(of: ObjectChange | null): number {
  if (of === null || !('differences' in of)) return 0
  const shown = of.differences.slice(0, SHOWN).map((one) => inLine(shownAs(one)))
  return shown.reduce((sum, one) => sum + MARKS + bytesInHtml(one), 0)
}

function Known({ of, events, vendor }: Omit<ChangedProps, 'of'> & { of: ObjectChange }) {
  if (of.how === 'reported') return <>As {vendor} reports it in the event.</>
  if (of.how === 'unknown')
    return <>The object’s earlier state is not known: there is no earlier event to compare with.</>
  const before = <a href={`${events}/${of.before.id}`}>{of.before.event_type}</a>
  if (of.how === 'gone')
    return (
      <>
        The object’s earlier state is not known: the payload of the previous event, {before}, is no longer stored, or is
        larger than {bytes(MAX_BEFORE_BYTES)}.
      </>
    )
  return (
    <>Compared with {before}, the last event about the object before this one. Events between them may be missing.</>
  )
}
