import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Onward } from '../../../sso/login/protocol'
import { enterIfKnown } from '../../page'
import { projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { show } from '../../ui/layout'
import { Gate } from '../sign-in/address'
import { TestFindings } from '../sso-tests/test'

type Tested = Extract<Onward, { to: 'tested' }>

/** Shows what a test run found: a member on its page in the console, anybody else right here. */
export async function testedPage(c: Context<HttpEnv>, { connection, login, result }: Tested): Promise<Response> {
  if (!result) return replacedPage(c, connection.name)
  await enterIfKnown(c, connection.project_id)
  const visitor = c.get('actor') as SignedIn | undefined
  if (visitor?.project_id === connection.project_id && visitor.scopes.includes('sso:read')) {
    const { sso } = projectPaths(connection.project_id)
    return c.redirect(`${sso}/${connection.id}/tests/${login.redirect_to}`, 303)
  }
  return show(
    c,
    { title: 'Test run', wide: true },
    <>
      <h1>Test run of {connection.name}</h1>
      <TestFindings state={result.state} report={result.report} />
      <p class="quiet">Nobody was signed in. The team that sent you the link can see this too.</p>
    </>,
  )
}

/** Only the last runs are kept. */
function replacedPage(c: Context<HttpEnv>, name: string) {
  return show(
    c,
    { title: 'Test run', status: 400 },
    <Gate title="This test run is no longer kept">
      <p>Newer test runs of {name} have taken its place. Ask the team that sent you the link for a new one.</p>
    </Gate>,
  )
}
