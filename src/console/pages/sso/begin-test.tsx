import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { SsoConnection } from '../../../sso/connections/connection'
import { ASKED } from '../../../sso/login/browser'
import { show } from '../../ui/layout'
import { Gate } from '../sign-in/address'

/** What the link of a test run opens. The test run begins with a click, because mail and chat programs open links too. */
export function beginTestPage(c: Context<HttpEnv>, { connection }: { connection: SsoConnection }) {
  return show(
    c,
    { title: 'Test run' },
    <Gate title={`Test run of ${connection.name}`}>
      <p>
        You will sign in at your identity provider. This does not sign you in here. Each step is recorded, and shown to
        you and to the team that sent you this link.
      </p>
      <a class="button primary wide" href={`?${ASKED}`}>
        Continue to {connection.name}
      </a>
    </Gate>,
  )
}
