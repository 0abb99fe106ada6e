import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { LOGIN_TTL } from '../../../sso/limits'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Gate } from '../sign-in/address'

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
