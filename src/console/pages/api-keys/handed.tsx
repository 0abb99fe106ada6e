import { type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { type KeyTrafficOf, readKeyTraffic } from '../../../api-keys/traffic'
import { run } from '../../../db/client'
import type { AddedSecrets } from '../../../inbox/connections/secrets'
import { pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { secretName } from '../connections/describe'
import { KeysInUse } from './traffic'

/** The other live keys whose secrets were issued through a key: a revocation with `issued` ends them too. */
export type Handed = { rows: KeyRow[]; traffic: KeyTrafficOf }

export async function readHanded(c: Visit, { project_id, id }: { project_id: string; id: string }): Promise<Handed> {
  const { db, now } = c.get('rt')
  const all = await run(db, listKeys(db, { project_id, before: null, limit: MAX_LIVE_KEYS, now, issuedTo: id }))
  // A key that rotated itself was handed its own secret.
  const rows = all.filter((row) => row.id !== id)
  return { rows, traffic: await readKeyTraffic(db, { project_id, ids: rows.map((row) => row.id), now }) }
}

/** @param props.several whether it is about the keys that any of several keys was handed */
export function HandedKeys({ c, of: { rows, traffic }, several }: { c: Visit; of: Handed; several?: boolean }) {
  const isOne = rows.length === 1
  return (
    <>
      <p class="warning" role="note">
        Anyone who held {several ? 'one of these keys' : 'this key'} also has {isOne ? 'the secret' : 'the secrets'} of{' '}
        {plural(rows.length, 'other key')}, because {several ? 'one of them' : 'this key'} was used to rotate{' '}
        {isOne ? 'it' : 'them'}:
      </p>
      <KeysInUse c={c} rows={rows} of={traffic} />
    </>
  )
}

/** The signing secrets that were added with a key, or with any of several. */
export function AddedWith({ c, rows, several }: { c: Visit; rows: readonly AddedSecrets[]; several?: boolean }) {
  return (
    <>
      <p class="warning" role="note">
        Signing secrets that were added with{' '}
        {several ? 'these keys, or with keys that they' : 'this key, or with a key that it'} rotated stay on{' '}
        {plural(rows.length, 'connection')}. Whoever added them can still sign deliveries. If{' '}
        {several ? 'a key' : 'the key'} leaked, remove each secret that your vendor does not sign with, and replace the
        others:
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
