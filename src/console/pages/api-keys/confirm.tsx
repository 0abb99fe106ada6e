import type { Context } from 'hono'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { exact, relative } from '../../ui/format'
import { show } from '../../ui/layout'

/** What rotating a key breaks. */
export function rotatePage(c: Context<HttpEnv>, row: KeyRow, { mistakes, status } = UNSENT) {
  const what =
    'You get a new secret for the same key. The old one stops working at once: whatever still sends it gets a 401 until it has the new one.'
  return confirmPage(c, row, { verb: 'Rotate', status, mistake: mistakes.form, what })
}

/** What revoking a key breaks. */
export function revokePage(c: Context<HttpEnv>, row: KeyRow) {
  const what = 'The key stops working at once, for good: whatever still sends it gets a 401. This cannot be undone.'
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
          'It has never been used.'
        ) : (
          <strong>
            It was last used {relative(row.last_used_at, now)}, at {exact(row.last_used_at)}.
          </strong>
        )}
      </p>
      <Wrong>{mistake}</Wrong>
    </Confirm>,
  )
}
