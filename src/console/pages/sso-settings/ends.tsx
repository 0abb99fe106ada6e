import type { SsoConnection } from '../../../sso/connections/connection'
import { startPath } from '../../../tenancy/reach'
import { pathsOf, type Visit } from '../../page'
import type { Refusal } from '../../refusal'
import { userOf } from '../../session'
import { Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Step, Steps, statesOf } from '../../ui/steps'

type Props = { c: Visit; row: SsoConnection }

/** Enforces a connection, or disables or deletes it. Each asks first. */
export function Ends({ c, row }: Props) {
  return (
    <>
      {row.audience === 'team' && row.state === 'active' && <Enforcement c={c} row={row} />}
      <Disable c={c} row={row} />
    </>
  )
}

function Enforcement({ c, row }: Props) {
  return (
    <>
      <h2>Enforcement</h2>
      <p class="quiet">
        {row.enforced
          ? 'Members must sign in with this connection to open the project. Only owners with break-glass access can sign in another way.'
          : 'Members can sign in with this connection, or with a code or a passkey. You can require the connection.'}
      </p>
      {userOf(c).role === 'owner' ? (
        <div class="choice">
          <a class="button" href={`${pathsOf(c).sso}/${row.id}/enforce`}>
            {row.enforced ? 'Stop enforcing' : 'Enforce'}
          </a>
        </div>
      ) : (
        <p class="quiet">Only an owner can change this.</p>
      )}
    </>
  )
}

function Disable({ c, row }: Props) {
  const path = `${pathsOf(c).sso}/${row.id}`
  const active = row.state === 'active'
  if (row.enforced) {
    return (
      <>
        <h2>Disable or delete</h2>
        <p class="quiet">While the connection is enforced, it cannot be disabled or deleted.</p>
      </>
    )
  }
  return (
    <>
      <h2>{active ? 'Disable or delete' : 'Delete'}</h2>
      <p class="quiet">
        {active
          ? 'Nobody can sign in with a disabled connection until you activate it again. Deleting cannot be undone.'
          : 'Deleting a connection cannot be undone. Members and consumers stay.'}
      </p>
      <div class="choice">
        {active && (
          <a class="button" href={`${path}/disable`} data-dialog>
            Disable
          </a>
        )}
        <a class="button danger" href={`${path}/delete`} data-dialog>
          Delete connection
        </a>
      </div>
    </>
  )
}

type Done = { glass: boolean; own: boolean }

/** The steps that are left before a connection can be enforced. They keep owners from locking themselves out. */
export function preparePage(c: Visit, row: SsoConnection, { glass, own }: Done, { mistakes, status }: Refusal) {
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
