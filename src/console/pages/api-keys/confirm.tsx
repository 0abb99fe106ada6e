import type { Context } from 'hono'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { exact, relative } from '../../ui/format'
import { show } from '../../ui/layout'

/** Asks before a key is rotated. */
export function rotatePage(c: Context<HttpEnv>, row: KeyRow, { mistakes, status } = UNSENT) {
  const what =
    'The key gets a new secret, and the old secret stops working immediately. Requests that still use the old secret fail with status 401.'
  return confirmPage(c, row, { verb: 'Rotate', status, mistake: mistakes.form, what })
}

/** Asks before a key is revoked. */
export function revokePage(c: Context<HttpEnv>, row: KeyRow) {
  const what =
    'The key stops working immediately, and requests that still use it fail with status 401. This cannot be undone.'
  return confirmPage(c, row, { verb: 'Revoke', status: 200, danger: true, what })
}

type Ask = { verb: string; status: 200 | 409 | 422; danger?: boolean; mistake?: string | undefined; what: string }

function confirmPage(c: Context<HttpEnv>, row: KeyRow, { verb, status, danger = false, mistake, what }: Ask) {
  const { keys } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: `${verb} API key`, section: 'keys', above: ['API keys', keys], status },
    <Confirm
      c={c}
      title={`${verb} “${row.name}”?`}
      to={`${keys}/${row.id}/${verb.toLowerCase()}`}
      verb={`${verb} key`}
      back={keys}
      danger={danger}
    >
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <p>{what}</p>
      <p>
        {row.last_used_at === null ? (
          'The key has never been used.'
        ) : (
          <strong>
            The key was last used {relative(row.last_used_at, now)}, at {exact(row.last_used_at)}.
          </strong>
        )}
      </p>
      <Wrong>{mistake}</Wrong>
    </Confirm>,
  )
}
