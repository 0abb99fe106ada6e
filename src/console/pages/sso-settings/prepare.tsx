import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { SsoConnection } from '../../../sso/connections/connection'
import { startPath } from '../../../tenancy/reach'
import { pathsOf } from '../../page'
import type { Refusal } from '../../refusal'
import { Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Step, Steps, statesOf } from '../../ui/steps'

type Done = { glass: boolean; own: boolean }

/** The steps that are left before a connection can be enforced. They keep owners from locking themselves out. */
export function preparePage(
  c: Context<HttpEnv>,
  row: SsoConnection,
  { glass, own }: Done,
  { mistakes, status }: Refusal,
) {
  const { sso, members } = pathsOf(c)
  const path = `${sso}/${row.id}`
  const title = `Enforce “${row.name}”`
  const [first, second, last] = statesOf([glass, own, false])
  return show(
    c,
    { title, section: 'sso', above: [row.name, path], status },
    <>
      <Head title={title} />
      <Wrong>{mistakes.form}</Wrong>
      <p>Members must then sign in with {row.name} to open this project. API keys keep working.</p>
      <Steps>
        <Step state={first ?? 'later'} title="Give an owner break-glass access" level="h2">
          <p class="quiet">
            Such an owner can also sign in with a code or a passkey. Otherwise nobody could sign in while the provider
            is down.
          </p>
          {!glass && (
            <p>
              <a class="button primary" href={members}>
                Go to Members
              </a>
            </p>
          )}
        </Step>
        <Step state={second ?? 'later'} title={`Sign in with ${row.name}`} level="h2">
          <p class="quiet">This proves that it works for you. It replaces your session in this browser.</p>
          {!own && (
            <p>
              <a class={glass ? 'button primary' : 'button'} href={startPath(row.id, `${path}/enforce`)}>
                Continue to {row.name}
              </a>
            </p>
          )}
        </Step>
        <Step state={last ?? 'later'} title="Enforce it" level="h2">
          <p class="quiet">You then confirm it on this page.</p>
        </Step>
      </Steps>
    </>,
  )
}
