import type { TestReport, TestState } from '../../../identities/values'
import { Badge } from '../../ui/badge'
import { Table } from '../../ui/table'

/** What a test run found: in a sentence, and step by step. */
export function Result({ state, report }: { state: TestState; report: TestReport }) {
  return (
    <>
      <p class={state === 'failed' ? 'warning bad' : 'notice'}>
        {state === 'failed' ? 'The test run failed. ' : 'The test run passed. '}
        {report.would}
      </p>
      <Table
        label="Steps"
        rows={report.steps}
        columns={[
          ['Step', ({ name }) => name],
          ['Result', ({ ok }) => <Badge of={ok ? 'ok' : 'failed'} />],
          ['Expected', ({ expected }) => expected],
          ['Got', ({ got }) => got],
        ]}
      />
    </>
  )
}
