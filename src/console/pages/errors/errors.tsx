import type { Context } from 'hono'
import { ADVICE } from '../../../http/advice'
import type { HttpEnv } from '../../../http/context'
import { codeOf, ERRORS } from '../../../http/errors'
import { FAULTS, type FaultName } from '../../../lib/fault'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'

/** The error codes, each with what to do. The `type` of every error points to a row here. */
export function errorsPage(c: Context<HttpEnv>) {
  // Faults that share a code share a row, whose id is the fragment that `type` names.
  const rows = [...Map.groupBy(FAULTS, codeOf)].map(([code, faults]) => {
    const [first] = faults as [FaultName]
    const status = [...new Set(faults.map((fault) => ERRORS[fault].status))].join(', ')
    return { status, code, title: ERRORS[first].title, advice: ADVICE[first] }
  })
  rows.sort((a, b) => (a.status < b.status ? -1 : 1))
  return show(
    c,
    { title: 'Error codes', section: 'reference', wide: true },
    <>
      <Head title="Error codes" />
      <p>
        Every error is <code>application/problem+json</code> (RFC 9457). Write code against <code>code</code>, which is
        stable. <code>detail</code> says what is wrong with the call.
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
