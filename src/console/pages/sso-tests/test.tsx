import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { idPattern } from '../../../lib/ids'
import { MINUTE } from '../../../lib/time'
import type { SsoConnection } from '../../../sso/connections/store'
import { LOGIN_TTL } from '../../../sso/limits'
import { loginUrl } from '../../../sso/login/address'
import type { Test } from '../../../sso/tests/tests-store'
import { can, pathsOf } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head, Time } from '../../ui/parts'
import { Result } from './result'

/** A test run: the link that begins it, then what it found. */
export function testPage(c: Context<HttpEnv>, connection: SsoConnection, test: Test) {
  const { sso } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: 'Test run', above: [connection.name, `${sso}/${connection.id}`] },
    <>
      <Head title={`Test run of ${connection.name}`}>
        {can(c, 'sso:write') && test.state !== 'waiting' && (
          <Post c={c} to={`${sso}/${connection.id}/test`}>
            <button type="submit">Test again</button>
          </Post>
        )}
      </Head>
      {test.revision !== connection.revision && (
        <p class="warning">The connection has changed since this test run. Test it again before you activate it.</p>
      )}
      {test.report ? <Result state={test.state} report={test.report} /> : <Begin c={c} connection={connection} />}
      <h2>Run</h2>
      <dl class="facts">
        <Fact name="Started">
          <Time at={test.created_at} now={now} />
        </Fact>
        <Fact name="Issuer">{connection.issuer}</Fact>
        <Fact name="ID">
          <code>{test.id}</code>
        </Fact>
      </dl>
    </>,
  )
}

/** A link, not a form: the browser would not follow a form to another site. */
function Begin({ c, connection }: { c: Context<HttpEnv>; connection: SsoConnection }) {
  const login = c.req.query('login') ?? ''
  const { sso } = pathsOf(c)
  if (!idPattern('slg').test(login)) {
    return (
      <>
        <p>Nobody has come back from the provider yet. The link of a test run is shown once.</p>
        {can(c, 'sso:write') && (
          <Post c={c} to={`${sso}/${connection.id}/test`}>
            <button type="submit">Start another test run</button>
          </Post>
        )}
      </>
    )
  }
  return (
    <>
      <p>
        Sign in at the provider, as your {connection.audience === 'team' ? 'team' : 'customers'} would. Nobody is signed
        in here: each step is recorded and shown on this page.
      </p>
      <p>
        <a class="button primary" href={loginUrl(c, connection, login)}>
          Continue to {connection.name}
        </a>
      </p>
      <p class="quiet">The link works once, in any browser, within {plural(LOGIN_TTL / MINUTE, 'minute')}.</p>
    </>
  )
}
