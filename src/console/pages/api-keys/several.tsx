import { findHandedBy, findKeysEver, type KeyRow } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { findSecretsAddedThrough, revokeKeys } from '../../../api-keys/revoke'
import { type KeyTrafficOf, readKeyTraffic } from '../../../api-keys/traffic'
import { batch } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { AddedSecrets } from '../../../inbox/connections/secrets'
import { action } from '../../action'
import { chosenIn } from '../../list'
import { pathsOf, type Visit } from '../../page'
import { Refused } from '../../refusal'
import { NothingChosen } from '../../ui/choosing'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { AddedWith, HandedKeys } from './handed'
import { KeysInUse } from './traffic'

type Chosen = {
  live: KeyRow[]
  traffic: KeyTrafficOf
  /** Other live keys whose secrets were issued through these, and the connections with signing secrets that any of them added. */
  handed: KeyRow[]
  added: AddedSecrets[]
  /** Those that were revoked before. */
  gone: KeyRow[]
  /** How many are not in the project. */
  unknown: number
}

async function readChosen(c: Visit): Promise<Chosen> {
  const { db, now } = c.get('rt')
  const project_id = projectOf(c.get('actor'))
  const ids = chosenIn(c).slice(0, MAX_LIVE_KEYS)
  const { found, handed, added } = await batch(db, {
    found: findKeysEver(db, project_id, ids),
    handed: findHandedBy(db, { project_id, ids, now }),
    added: findSecretsAddedThrough(db, project_id, ids, now),
  })
  const live = found.filter(({ revoked_at }) => revoked_at === null)
  const traffic = await readKeyTraffic(db, { project_id, ids: [...live, ...handed].map(({ id }) => id), now })
  const gone = found.filter(({ revoked_at }) => revoked_at !== null)
  return { live, traffic, handed, added, gone, unknown: ids.length - found.length }
}

/** Revokes the keys that were ticked in the list. Keys that were already revoked are skipped. */
export const revokeChosen = action({
  at: '/revoke',
  needs: 'api_keys:write',
  counted: { ends: true },
  read: readChosen,
  ask: (c, chosen, { status }) => {
    const { live } = chosen
    const above = ['API keys', pathsOf(c).keys] as const
    const view = { title: 'Revoke API keys', section: 'keys', above } as const
    if (live.length === 0) {
      return show(
        c,
        { ...view, status },
        <NothingChosen title="No keys to revoke" what="keys" back={above[1]}>
          <Left of={chosen} />
        </NothingChosen>,
      )
    }
    const verb = `Revoke ${plural(live.length, 'key')}`
    return {
      ...view,
      question: `${verb}?`,
      says: <Consequences c={c} of={chosen} />,
      choice: live.map(({ id }) => <input type="hidden" name="id" value={id} />),
      verb,
      danger: true,
    }
  },
  run: async (c) => {
    const ids = chosenIn(c)
    if (ids.length > MAX_LIVE_KEYS) throw new Refused({ form: `Select at most ${MAX_LIVE_KEYS} keys.` })
    const revoked = await revokeKeys(c.get('rt').db, { project_id: projectOf(c.get('actor')), ids }, changeOf(c))
    if (revoked.length === 0) throw new Refused({ form: 'None of the selected keys can be revoked.' }, 409)
    return revoked.length === ids.length
  },
  done: (c, isAll) => [pathsOf(c).keys, isAll ? 'chosen_keys_revoked' : 'chosen_keys_revoked_partly'],
})

function Consequences({ c, of }: { c: Visit; of: Chosen }) {
  const { live, traffic, handed, added } = of
  const used = live.filter(({ id }) => traffic(id).hour > 0).length
  return (
    <>
      <p>
        The keys stop working immediately, and requests that still use them fail with status 401. This cannot be undone.
      </p>
      {used > 0 && (
        <p class="warning" role="note">
          <strong>
            {plural(used, 'key')} {used === 1 ? 'was' : 'were'} used in the last hour.
          </strong>
        </p>
      )}
      <Left of={of} />
      <KeysInUse c={c} rows={live} of={traffic} />
      {added.length > 0 && <AddedWith c={c} rows={added} several />}
      {handed.length > 0 && (
        <>
          <HandedKeys c={c} of={{ rows: handed, traffic }} several />
          <p>Those keys stay active. If a key leaked, go back and select them too, or revoke it on its own page.</p>
        </>
      )}
      <p class="hint">The real numbers may be higher.</p>
    </>
  )
}

/** The chosen keys that stay as they are, and why. */
function Left({ of: { gone, unknown } }: { of: Chosen }) {
  return (
    <>
      {gone.length > 0 && <p>Already revoked: {gone.map(({ name }) => `“${name}”`).join(', ')}.</p>}
      {unknown > 0 && <p>Not in this project: {plural(unknown, 'selected key')}.</p>}
    </>
  )
}
