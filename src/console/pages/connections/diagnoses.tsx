import type { DiagnosisRow } from '../../../inbox/diagnoses/store'
import { type RefusalVerdict, VERDICT_ADVICE } from '../../../inbox/diagnoses/verdicts'
import { SECOND } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { Time } from '../../ui/parts'
import { Cause } from '../../ui/refusals'
import { Table } from '../../ui/table'
import type { ShownConnection } from './read'

/** The verdicts in words. */
const VERDICT_WORDS: Record<RefusalVerdict, string> = {
  clock: 'Wrong time',
  removed_secret: 'Removed secret',
  body_changed: 'Changed body',
  other_connection: 'Secret of another connection',
  mode_mixup: 'Secret of the other mode',
  other_vendor: 'Another vendor',
  header_missing: 'No signature header',
  not_set_up: 'Not set up yet',
  unknown: 'Cause not found',
}

/** Why deliveries of the connection were refused. Renders nothing if none was looked at. */
export function Diagnoses({ c, of: { diagnoses } }: { c: Visit; of: Pick<ShownConnection, 'diagnoses'> }) {
  if (diagnoses.length === 0) return null
  return (
    <>
      <h2 id="why">Why deliveries were refused</h2>
      <p class="quiet">
        We check at most one refused delivery every ten seconds. The last ten results are kept for seven days.
      </p>
      <Table
        label="Why deliveries were refused"
        rows={diagnoses}
        columns={[
          ['Time', ({ at }) => <Time at={at} now={c.get('rt').now} />],
          ['Cause', ({ cause }) => <Cause of={cause} />],
          ['Verdict', ({ verdict }) => <span title={verdict}>{VERDICT_WORDS[verdict]}</span>],
          [
            'What to do',
            (row) => (
              <span class="wrapped">
                {VERDICT_ADVICE[row.verdict]} <Particulars c={c} row={row} />
              </span>
            ),
          ],
        ]}
      />
    </>
  )
}

/** What was found out about one delivery. */
function Particulars({ c, row }: { c: Visit; row: DiagnosisRow }) {
  const { verdict, signed_by, sender, skew_ms, reason, headers, size } = row
  const isSecret = verdict === 'removed_secret'
  return (
    <>
      {reason !== null && <>{reason} </>}
      {sender !== null && (
        <>
          This signature header is used by <code>{sender}</code>.{' '}
        </>
      )}
      {skew_ms !== null && <>The signature is {skewWords(skew_ms)} our clock. </>}
      {signed_by !== null && isSecret && (
        <>
          Secret: <code>{signed_by}</code>.{' '}
        </>
      )}
      {signed_by !== null && !isSecret && (
        <>
          <a href={`${pathsOf(c).connections}/${signed_by}`}>Open the other connection</a>.{' '}
        </>
      )}
      <span class="quiet">
        {size.toLocaleString('en')} bytes, headers: {headers.join(', ') || 'none that we recognize'}.
      </span>
    </>
  )
}

const skewWords = (ms: number) =>
  `${Math.round(Math.abs(ms) / SECOND).toLocaleString('en')} s ${ms > 0 ? 'behind' : 'ahead of'}`
