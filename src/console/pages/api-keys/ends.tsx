import { findKey, type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { findSecretsAddedThrough, revokeKey } from '../../../api-keys/revoke'
import { rotateKey } from '../../../api-keys/rotate'
import { newSecret } from '../../../api-keys/secret'
import { batch } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import { requireConfirmedFor, requireScopes } from '../../../http/policy'
import type { AddedSecrets } from '../../../inbox/connections/secrets'
import { Fault, requireFound } from '../../../lib/fault'
import { type Ask, action, leadTo } from '../../action'
import { pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { inFull, plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import { secretName } from '../connections/describe'
import { addressedKey, keyPath, readKey } from './key'
import { secretPage } from './secret'

export const rotate = action({
  at: '/:id/rotate',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: async (c) => {
    const row = await readKey(c)
    // The rotation itself requires both too.
    requireScopes(userOf(c), row.scopes)
    requireConfirmedFor(userOf(c), row.scopes)
    return row
  },
  ask: (c, row) => ({
    ...asked(c, row, 'Rotate'),
    says: (
      <About
        c={c}
        row={row}
        what="The key gets a new secret, and the old secret stops working immediately. Requests that still use the old secret fail with status 401."
      />
    ),
    // Names the secret that is replaced, so that the form replaces it once.
    choice: <input type="hidden" name="known" value={row.key_prefix} autocomplete="off" />,
  }),
  run: async (c) => {
    const { db, store } = c.get('rt')
    const secret = await newSecret(store)
    const known = c.get('form').get('known') ?? undefined
    try {
      const row = await rotateKey(db, { ...addressedKey(c), actor: userOf(c), known }, secret, changeOf(c))
      return await secretPage(c, row, secret.secret, { what: 'rotated' })
    } catch (error) {
      // The form was sent again, or somebody else was first.
      if (!(error instanceof Fault) || error.fault !== 'rotation_conflict') throw error
      return leadTo(c, keyPath(c, addressedKey(c).id), 'key_rotated_before')
    }
  },
  done: (_, response) => response,
})

/** It offers to revoke what the key was handed too, and names the signing secrets that any of these keys added. */
export const revoke = action({
  at: '/:id/revoke',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: async (c) => {
    const { db } = c.get('rt')
    const { project_id, id } = addressedKey(c)
    const { keys, issued, added } = await batch(db, {
      keys: findKey(db, { project_id, id }),
      issued: listKeys(db, { project_id, before: null, limit: MAX_LIVE_KEYS, issuedTo: id }),
      added: findSecretsAddedThrough(db, project_id, id),
    })
    // A key that rotated itself was handed its own secret.
    return { row: requireFound(keys, 'API key'), issued: issued.filter((row) => row.id !== id), added }
  },
  ask: (c, { row, issued, added }) => ({
    ...asked(c, row, 'Revoke'),
    says: (
      <About
        c={c}
        row={row}
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

function asked(c: Visit, row: KeyRow, verb: string): Omit<Ask, 'says'> {
  const above = [row.name, keyPath(c, row.id)] as const
  return { title: `${verb} API key`, section: 'keys', above, question: `${verb} “${row.name}”?`, verb: `${verb} key` }
}

/** What happens to a key, and whether it is in use. */
function About({ c, row, what }: { c: Visit; row: KeyRow; what: string }) {
  return (
    <>
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <p>{what}</p>
      <p>
        {row.last_used_at === null ? (
          'The key has never been used.'
        ) : (
          <strong>The key was last used at {inFull(row.last_used_at, c.get('rt').now)}.</strong>
        )}
      </p>
    </>
  )
}

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
