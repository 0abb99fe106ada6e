import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import { newId } from '../../lib/ids'
import type { SsoConnection } from '../connections/connection'
import { bindBrowser } from '../login/browser'
import { beginLogin } from '../login/logins'
import { depart, type Onward } from '../login/protocol'

/**
 * Begins a sign-in of the team in this browser, and leads it to the provider.
 *
 * @param redirect_to the path in the console that it leads to
 * @param login_hint the address that was typed, for the provider; null if there is none
 * @param agreed_by the owner who has agreed that the connection is linked to their account; null if nobody has
 */
export async function beginTeamLogin(
  c: Context<HttpEnv>,
  connection: SsoConnection,
  { redirect_to, login_hint, agreed_by }: { redirect_to: string; login_hint: string | null; agreed_by: string | null },
): Promise<Onward> {
  const rt = c.get('rt')
  const { state, bound } = await bindBrowser(c)
  const { project_id, id: connection_id } = connection
  const login = {
    id: newId('slg', rt.now),
    project_id,
    connection_id,
    mode: 'team' as const,
    redirect_to,
    login_hint,
    agreed_by,
  }
  const begun = await beginLogin(rt.directory, login, bound, rt.now)
  return depart(c, { login: begun, connection }, state)
}
