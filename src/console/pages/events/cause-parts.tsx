import type { CauseRow } from '../../../inbox/failures/failures'
import type { MuteRow } from '../../../inbox/mutes/mutes'
import { NO_CODE } from '../../../inbox/mutes/schema'
import { eventAdvice } from '../../../vendors/event-errors'
import { pathsOf, type Visit } from '../../page'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'

/** The events of a cause, as a query of the list. */
export function causeQuery({ connection_id, last_error_code }: CauseRow): string {
  const code = last_error_code === null ? {} : { error_code: last_error_code }
  return new URLSearchParams({ status: 'failed', connection_id, ...code }).toString()
}

/** What the cause means, and whether a replay may succeed. */
export function adviceOnCause({ last_error_code, vendor }: Pick<CauseRow, 'last_error_code' | 'vendor'>) {
  return eventAdvice(last_error_code, vendorTitle(vendor))
}

type Named = Pick<CauseRow, 'connection_id' | 'last_error_code'>

/** The path of the page that asks how long to mute a cause, or of the form that unmutes it. */
export function mutePath(c: Visit, { connection_id, last_error_code }: Named, what: 'mute' | 'unmute'): string {
  return `${pathsOf(c).events}/failures/${connection_id}/${last_error_code ?? NO_CODE}/${what}`
}

/** Who muted a cause, and until when. @param by the name of that user or API key */
export function Muted({ mute, by, now }: { mute: MuteRow; by: string | undefined; now: number }) {
  return (
    <>
      <span class="badge">Muted</span> by {by ?? <code>{mute.muted_by}</code>}
      {mute.until === null ? (
        ', until someone unmutes it'
      ) : (
        <>
          . Ends <Time at={mute.until} now={now} />
        </>
      )}
    </>
  )
}
