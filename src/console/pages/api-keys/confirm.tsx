import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import type { AddedSecrets } from '../../../inbox/connections/secrets'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { inFull, plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Time } from '../../ui/parts'
import { secretName } from '../connections/describe'

/** Asks before a key is rotated. */
export function rotatePage(c: Context<HttpEnv>, row: KeyRow, { mistakes, status } = UNSENT) {
  const what =
    'The key gets a new secret, and the old secret stops working immediately. Requests that still use the old secret fail with status 401.'
  // Names the secret that is replaced, so that the form replaces it once.
  const choice = <input type="hidden" name="known" value={row.key_prefix} autocomplete="off" />
  return confirmPage(c, row, { verb: 'Rotate', status, mistake: mistakes.form, what, choice })
}

/**
 * Asks before a key is revoked, and offers to revoke what it was handed too.
 *
 * @param issued the other live keys whose current secret went through the hands of this one
 * @param added the connections with signing secrets that any of these keys added
 */
export function revokePage(c: Context<HttpEnv>, row: KeyRow, issued: KeyRow[], added: AddedSecrets[]) {
  const what =
    'The key stops working immediately, and requests that still use it fail with status 401. This cannot be undone.'
  const choice = (
    <>
      {added.length > 0 && <Added c={c} rows={added} />}
      {issued.length > 0 && <Issued c={c} rows={issued} />}
    </>
  )
  return confirmPage(c, row, { verb: 'Revoke', status: 200, danger: true, what, choice })
}

function Issued({ c, rows }: { c: Context<HttpEnv>; rows: KeyRow[] }) {
  return (
    <>
      <p class="warning" role="note">
        Whoever held this key holds {rows.length === 1 ? 'the secret' : 'the secrets'} of{' '}
        {plural(rows.length, 'other key')} too, because it was used to rotate {rows.length === 1 ? 'it' : 'them'}:
      </p>
      <ul>
        {rows.map((row) => (
          <li>
            <strong>{row.name}</strong> <code>{row.key_prefix}</code>, last used{' '}
            <Time at={row.last_used_at} now={c.get('rt').now} none="never" />
          </li>
        ))}
      </ul>
      <div class="checks">
        <label>
          <input type="checkbox" name="issued" value="true" /> Revoke {rows.length === 1 ? 'it' : 'them'} too
        </label>
      </div>
    </>
  )
}

function Added({ c, rows }: { c: Context<HttpEnv>; rows: AddedSecrets[] }) {
  return (
    <>
      <p class="warning" role="note">
        Signing secrets that were added with this key, or with a key that it rotated, stay on{' '}
        {plural(rows.length, 'connection')}. Whoever added them can sign deliveries. If the key leaked, remove each
        secret that your vendor does not sign with, and replace the others:
      </p>
      <ul>
        {rows.map(({ id, name, secrets }) => (
          <li>
            <a href={`${pathsOf(c).connections}/${id}`}>{name}</a>:{' '}
            {secrets.map(({ hint }) => secretName(hint)).join(', ')}
          </li>
        ))}
      </ul>
    </>
  )
}

type Ask = {
  verb: string
  status: typeof UNSENT.status
  danger?: boolean
  mistake?: string | undefined
  what: string
  /** What the form offers besides its button. */
  choice?: Child
}

function confirmPage(c: Context<HttpEnv>, row: KeyRow, { verb, status, danger = false, mistake, what, choice }: Ask) {
  const { keys } = pathsOf(c)
  const { now } = c.get('rt')
  return show(
    c,
    { title: `${verb} API key`, section: 'keys', above: [row.name, `${keys}/${row.id}`], status },
    <Confirm
      c={c}
      title={`${verb} “${row.name}”?`}
      to={`${keys}/${row.id}/${verb.toLowerCase()}`}
      verb={`${verb} key`}
      back={`${keys}/${row.id}`}
      danger={danger}
      choice={choice}
    >
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <p>{what}</p>
      <p>
        {row.last_used_at === null ? (
          'The key has never been used.'
        ) : (
          <strong>The key was last used at {inFull(row.last_used_at, now)}.</strong>
        )}
      </p>
      <Wrong>{mistake}</Wrong>
    </Confirm>,
  )
}
