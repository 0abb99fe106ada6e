import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import type { SsoConnection } from '../../../sso/connections/connection'
import { LOGIN_TTL } from '../../../sso/limits'
import { ASKED } from '../../../sso/login/browser'
import { plural } from '../../ui/format'
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

/** The page for a login that is not there, or is another browser's. */
export function deadLoginPage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Sign in', status: 400 },
    <Gate title="This sign-in cannot continue">
      <p>
        It was started in another browser, has already been used, or is older than{' '}
        {plural(LOGIN_TTL / MINUTE, 'minute')}. Go back to where you started, and sign in again.
      </p>
    </Gate>,
  )
}
