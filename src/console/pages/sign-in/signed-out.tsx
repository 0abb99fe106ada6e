import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { show } from '../../ui/layout'
import { Gate } from './gate'

type Connection = { name: string; client_id: string }

/** The page after signing out of a session from single sign-on. The session at the provider is another one: a link ends it too. */
export function signedOutPage(c: Context<HttpEnv>, { name, client_id }: Connection, endpoint: string) {
  const url = new URL(endpoint)
  url.searchParams.set('client_id', client_id)
  c.set('actor', undefined as never)
  return show(
    c,
    { title: 'Signed out' },
    <Gate title="Signed out">
      <p>You have signed out here. At {name} you may still be signed in.</p>
      <a class="button primary wide" href={url.href}>
        Sign out of {name} too
      </a>
      <p>
        <a href="/console/sign-in">Sign in again</a>
      </p>
    </Gate>,
  )
}
