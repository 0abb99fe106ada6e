import { endSecret } from '../../../api-keys/end-secret'
import { findKey } from '../../../api-keys/key'
import { findSecretsAddedThrough, revokeKey } from '../../../api-keys/revoke'
import { batch } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import { requireFound } from '../../../lib/fault'
import { action } from '../../action'
import { pathsOf, type Visit } from '../../page'
import { About, asked } from './about'
import { AddedWith, type Handed, HandedKeys, readHanded } from './handed'
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
    const [use, handed, { keys, added }] = await Promise.all([
      readUse(c, addressedKey(c)),
      readHanded(c, addressedKey(c)),
      batch(db, { keys: findKey(db, { project_id, id }), added: findSecretsAddedThrough(db, project_id, [id], now) }),
    ])
    return { row: requireFound(keys, 'API key'), handed, added, use }
  },
  ask: (c, { row, handed, added, use }) => ({
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
        {added.length > 0 && <AddedWith c={c} rows={added} />}
        {handed.rows.length > 0 && <Issued c={c} of={handed} />}
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

function Issued({ c, of }: { c: Visit; of: Handed }) {
  return (
    <>
      <HandedKeys c={c} of={of} />
      <div class="checks">
        <label>
          <input type="checkbox" name="issued" value="true" /> Revoke {of.rows.length === 1 ? 'it' : 'them'} too
        </label>
      </div>
    </>
  )
}
