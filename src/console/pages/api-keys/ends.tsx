import { endSecret } from '../../../api-keys/end-secret'
import { findKey, type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { findSecretsAddedThrough, revokeKey } from '../../../api-keys/revoke'
import { batch } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { AddedSecrets } from '../../../inbox/connections/secrets'
import { requireFound } from '../../../lib/fault'
import { action } from '../../action'
import { pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import { secretName } from '../connections/describe'
import { About, asked } from './about'
import { addressedKey, keyPath, readKey } from './key'
import { readUse } from './use'

/** It offers to revoke what the key was handed too, and names the signing secrets that any of these keys added. */
export const revoke = action({
  at: '/:id/revoke',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: async (c) => {
    const { db, now } = c.get('rt')
    const { project_id, id } = addressedKey(c)
    const use = await readUse(c, addressedKey(c))
    const { keys, issued, added } = await batch(db, {
      keys: findKey(db, { project_id, id }),
      issued: listKeys(db, { project_id, before: null, limit: MAX_LIVE_KEYS, now, issuedTo: id }),
      added: findSecretsAddedThrough(db, project_id, id, now),
    })
    // A key that rotated itself was handed its own secret.
    return { row: requireFound(keys, 'API key'), issued: issued.filter((row) => row.id !== id), added, use }
  },
  ask: (c, { row, issued, added, use }) => ({
    ...asked(c, row, 'Revoke'),
    says: (
      <About
        c={c}
        row={row}
        use={use}
        what="The key stops working immediately, and requests that still use it fail with status 401. This cannot be undone."
      />
    ),
    choice: (
      <>
        {added.length > 0 && <Added c={c} rows={added} />}
        {issued.length > 0 && <Issued c={c} rows={issued} />}
      </>
    ),
    danger: true,
  }),
  run: async (c) => {
    const issued = c.get('form').get('issued') === 'true'
    await revokeKey(c.get('rt').db, { ...addressedKey(c), issued }, changeOf(c))
    return issued
  },
  done: (c, issued) => [pathsOf(c).keys, issued ? 'keys_revoked' : 'key_revoked'],
})

/** Ends the secret that a rotation has handed out and that nobody has used yet. */
export const endPending = action({
  at: '/:id/end-pending',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: readKey,
  ask: (c, row) => ({
    ...asked(c, row, 'End the new secret of'),
    says: <p>The new secret will never work. The current secret stays as it is.</p>,
    verb: 'End new secret',
    danger: true,
  }),
  run: (c) => endSecret(c.get('rt').db, { ...addressedKey(c), which: 'pending' }, changeOf(c)),
  done: (c) => [keyPath(c, addressedKey(c).id), 'pending_secret_ended'],
})

/** Ends the secret that a rotation has replaced and that still works. */
export const endPrevious = action({
  at: '/:id/end-previous',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: readKey,
  ask: (c, row) => ({
    ...asked(c, row, 'End the old secret of'),
    says: <p>Requests that still use the old secret fail with status 401. The current secret stays as it is.</p>,
    verb: 'End old secret',
    danger: true,
  }),
  run: (c) => endSecret(c.get('rt').db, { ...addressedKey(c), which: 'previous' }, changeOf(c)),
  done: (c) => [keyPath(c, addressedKey(c).id), 'previous_secret_ended'],
})

function Issued({ c, rows }: { c: Visit; rows: KeyRow[] }) {
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

function Added({ c, rows }: { c: Visit; rows: AddedSecrets[] }) {
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
