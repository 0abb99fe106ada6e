import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { HttpEnv } from '../../../http/context'
import type { SsoConnection } from '../../../sso/connections/store'
import { pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { show } from '../../ui/layout'

type Ask = { title: string; to: string; verb: string; danger?: boolean; choice?: Child }

/** Asks before a connection is enforced. It names who keeps access without it. */
export function enforcePage(c: Context<HttpEnv>, row: SsoConnection, owners: readonly string[]) {
  return confirmPage(
    c,
    row,
    {
      title: `Enforce “${row.name}”?`,
      to: 'enforce',
      verb: 'Enforce',
      choice: <input type="hidden" name="enforce" value="true" />,
    },
    <>
      <p>
        Members must then sign in with {row.name}. Their other sessions can no longer open this project. API keys keep
        working.
      </p>
      <p>
        These owners have break-glass access, and can also sign in with a code or a passkey:{' '}
        <strong>{owners.join(', ')}</strong>.
      </p>
    </>,
  )
}

/** Asks before the project stops enforcing a connection. */
export function releasePage(c: Context<HttpEnv>, row: SsoConnection) {
  return confirmPage(
    c,
    row,
    {
      title: `Stop enforcing “${row.name}”?`,
      to: 'enforce',
      verb: 'Stop enforcing',
      choice: <input type="hidden" name="enforce" value="false" />,
    },
    <p>Members can then sign in with a code or a passkey again.</p>,
  )
}

/** Asks before a connection is disabled. */
export function disablePage(c: Context<HttpEnv>, row: SsoConnection) {
  return confirmPage(
    c,
    row,
    { title: `Disable “${row.name}”?`, to: 'disable', verb: 'Disable connection', danger: true },
    <p>
      Nobody can sign in with it until you activate it again.
      {row.audience === 'team' && ' Its sessions end at once.'}
    </p>,
  )
}

/** Asks before a connection is deleted. */
export function deletePage(c: Context<HttpEnv>, row: SsoConnection) {
  return confirmPage(
    c,
    row,
    { title: `Delete “${row.name}”?`, to: 'delete', verb: 'Delete connection', danger: true },
    <p>
      Nobody can sign in with it any more{row.audience === 'team' && ', and its sessions end at once'}. Its client
      secret is deleted. Members and consumers stay.
    </p>,
  )
}

function confirmPage(c: Context<HttpEnv>, row: SsoConnection, { title, to, ...ask }: Ask, what: Child) {
  const path = `${pathsOf(c).sso}/${row.id}`
  return show(
    c,
    { title, section: 'sso', above: [row.name, path] },
    <Confirm c={c} title={title} to={`${path}/${to}`} back={path} {...ask}>
      {what}
    </Confirm>,
  )
}
