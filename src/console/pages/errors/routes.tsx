import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { BODY_DEADLINE, CONFIRMED_FOR } from '../../../http/limits'
import { adviceOf, type Periods } from '../../../lib/advice'
import { codeOf, ERRORS, FAULTS, type FaultName } from '../../../lib/faults'
import { DAY, MINUTE, SECOND } from '../../../lib/time'
import { CHALLENGE_TTL } from '../../../passkeys/limits'
import { RESTORABLE_FOR } from '../../../projects/limits'
import { CODE_TTL, CODE_TTL as GRANT_TTL } from '../../../sessions/limits'
import { enterIfKnown, page, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'

const PERIODS: Periods = {
  body: plural(BODY_DEADLINE / SECOND, 'second'),
  challenge: plural(CHALLENGE_TTL / MINUTE, 'minute'),
  code: plural(CODE_TTL / MINUTE, 'minute'),
  confirmation: plural(CONFIRMED_FOR / MINUTE, 'minute'),
  grant: plural(GRANT_TTL / SECOND, 'second'),
  restore: plural(RESTORABLE_FOR / DAY, 'day'),
}

/** The error codes, each with what to do. The `type` of every error points to a row here. */
export function errorsPage(c: Visit) {
  // Faults that share a code share a row, whose id is the fragment that `type` names.
  const rows = [...Map.groupBy(FAULTS, codeOf)].map(([code, faults]) => {
    const [first] = faults as [FaultName]
    const status = [...new Set(faults.map((fault) => ERRORS[fault].status))].join(', ')
    return { status, code, title: ERRORS[first].title, advice: adviceOf(first, PERIODS) }
  })
  rows.sort((a, b) => (a.status < b.status ? -1 : 1))
  return show(
    c,
    { title: 'Error codes', section: 'reference', wide: true },
    <>
      <Head title="Error codes" />
      <p>
        Every error is <code>application/problem+json</code> (RFC 9457). Your code should check <code>code</code>, which
        is stable. <code>detail</code> says what is wrong with the request.
      </p>
      <Table
        label="Error codes"
        rows={rows}
        columns={[
          [
            'Code',
            ({ code }) => (
              <a id={code} href={`#${code}`}>
                <code>{code}</code>
              </a>
            ),
          ],
          ['Status', ({ status }) => status],
          ['Meaning', ({ title }) => <span class="text">{title}</span>],
          ['What to do', ({ advice }) => <span class="text">{advice}</span>],
        ]}
      />
    </>,
  )
}

/** The table of error codes, for anybody. A signed-in user sees it in the frame. */
export const errorPages = new Hono<HttpEnv>().get('/', page('anyone'), async (c) => {
  await enterIfKnown(c, null)
  return errorsPage(c)
})
