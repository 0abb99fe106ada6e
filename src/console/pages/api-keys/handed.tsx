import { type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { type KeyTrafficOf, readKeyTraffic } from '../../../api-keys/traffic'
import { run } from '../../../db/client'
import type { Visit } from '../../page'
import { plural } from '../../ui/format'
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

export function HandedKeys({ c, of: { rows, traffic } }: { c: Visit; of: Handed }) {
  const isOne = rows.length === 1
  return (
    <>
      <p class="warning" role="note">
        Anyone who held this key also has {isOne ? 'the secret' : 'the secrets'} of {plural(rows.length, 'other key')},
        because this key was used to rotate {isOne ? 'it' : 'them'}:
      </p>
      <KeysInUse c={c} rows={rows} of={traffic} />
    </>
  )
}
