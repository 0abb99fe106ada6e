import type { TestReport, TestState } from '../../../identities/values'
import { idPattern } from '../../../lib/ids'
import { MINUTE } from '../../../lib/time'
import type { SsoConnection } from '../../../sso/connections/connection'
import { LOGIN_TTL } from '../../../sso/limits'
import { ASKED, loginUrl } from '../../../sso/login/browser'
import { type Test, testStateOf } from '../../../sso/test-runs/test-run'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Copyable, Fact, Head, Time } from '../../ui/parts'
import { Pending, Refresh, Said, waiting } from '../../ui/steps'
import { Table } from '../../ui/table'

type RunProps = { c: Visit; connection: SsoConnection; test: Test }

/** A test run: the link that begins it, then what it found. */
export function testPage({ c, connection, test }: RunProps) {
  const { sso } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: 'Test run', section: 'sso', above: [connection.name, `${sso}/${connection.id}`] },
    <>
      <Run c={c} connection={connection} test={test} />
      <h2>Run</h2>
      <dl class="facts">
        <Fact name="Started">
          <Time at={test.created_at} now={now} />
        </Fact>
        <Fact name="Issuer">{connection.issuer}</Fact>
        <Fact name="ID">
          <Id>{test.id}</Id>
        </Fact>
      </dl>
    </>,
  )
}

/**
 * The part of the page that changes when the run ends, or can no longer end.
 *
 * @param fresh whether it replaces an older version on the page
 */
export function Run({ c, connection, test, fresh = false }: RunProps & { fresh?: boolean }) {
  const path = `${pathsOf(c).sso}/${connection.id}`
  const seen = testStateOf(test, c.get('rt').now)
  return (
    <>
      <div {...waiting({ id: 'run', at: seen === 'waiting' ? `${path}/tests/${test.id}/run` : null, seen })}>
        <Head title={`Test run of ${connection.name}`}>
          {can(c, 'sso:write') && seen !== 'waiting' && (
            <Post c={c} to={`${path}/test`}>
              <button type="submit">Test again</button>
            </Post>
          )}
        </Head>
        {test.revision !== connection.revision && (
          <p class="warning" role="note">
            The connection has changed since this test run. Test it again before you activate it.
          </p>
        )}
        {test.report && <TestFindings state={test.state} report={test.report} />}
        {seen === 'waiting' && <Begin c={c} connection={connection} />}
        {seen === 'expired' && (
          <p>This test run has expired because nobody returned from the provider in time. Its link no longer works.</p>
        )}
      </div>
      <Said said={SAID[seen]} fresh={fresh} />
    </>
  )
}

const SAID = {
  waiting: 'Waiting for the sign-in at the provider.',
  expired: 'The test run has expired.',
  passed: 'The test run passed.',
  failed: 'The test run failed.',
} as const

/** A link, not a form: the browser would not follow a form to another site. */
function Begin({ c, connection }: Pick<RunProps, 'c' | 'connection'>) {
  const login = c.req.query('login') ?? ''
  const { sso } = pathsOf(c)
  if (!idPattern('slg').test(login)) {
    return (
      <>
        <Pending>Waiting for the sign-in at the provider…</Pending>
        <p class="quiet">The link to a test run is shown only once.</p>
        {can(c, 'sso:write') && (
          <Post c={c} to={`${sso}/${connection.id}/test`}>
            <button type="submit">Start another test run</button>
          </Post>
        )}
        <Refresh />
      </>
    )
  }
  return (
    <>
      <p>
        Sign in at the provider, as your {connection.audience === 'team' ? 'team' : 'customers'} would. This does not
        sign anyone in here. Each step is recorded and shown on this page.
      </p>
      <p>
        <a class="button primary" href={`${loginUrl(c, connection, login)}?${ASKED}`}>
          Continue to {connection.name}
        </a>
      </p>
      <p>Or send this link to the person who manages the provider:</p>
      <Copyable id="link" label="Link">
        {loginUrl(c, connection, login)}
      </Copyable>
      <p class="quiet">It works once, in any browser, within {plural(LOGIN_TTL / MINUTE, 'minute')}.</p>
      <Pending>Waiting for the sign-in at the provider…</Pending>
      <Refresh at={`?login=${login}`} />
    </>
  )
}

/** What a test run found: in a sentence, and step by step. */
export function TestFindings({ state, report }: { state: TestState; report: TestReport }) {
  return (
    <>
      <p class={state === 'failed' ? 'warning bad' : report.refused ? 'warning' : 'notice'}>
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
          ['Received', ({ got }) => got],
        ]}
      />
    </>
  )
}
