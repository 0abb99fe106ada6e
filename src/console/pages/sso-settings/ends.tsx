import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { SsoConnection } from '../../../sso/connections/connection'
import { pathsOf } from '../../page'

type Props = { c: Context<HttpEnv>; row: SsoConnection }

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
      <div class="choice">
        <a class="button" href={`${pathsOf(c).sso}/${row.id}/enforce`}>
          {row.enforced ? 'Stop enforcing' : 'Enforce'}
        </a>
      </div>
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
