import { findKey, type KeyRow } from '../../../api-keys/key'
import { run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { Scope } from '../../../lib/access'
import { requireFound } from '../../../lib/fault'
import { presetName } from '../../../lib/key-presets'
import type { People } from '../../../tenancy/people'
import { can, pathsOf, type Visit } from '../../page'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, Fact, Head, Time } from '../../ui/parts'
import type { NamedEntry } from '../audit-log/entry'
import { History } from '../audit-log/history'
import { BoundFacts } from './bounds'
import { Actions, Holder, MinterAddress } from './columns'
import { LifeBadge } from './expiry'
import { Scopes } from './matrix'
import { Secrets } from './secrets'
import { type Usage, UseOfKey } from './use'

type About = {
  /** The members of the project; null if they are not known. */
  people: People | null
  /** The newest entries of the audit log about the key; null if the user may not read the log. */
  history: NamedEntry[] | null
  /** The scopes that do not count, because the user who created the key no longer has the role for them. */
  dormant: Scope[]
  /** How the key was used. */
  use: Usage
}

/** The page of one key, even after it was revoked. */
export function keyPage(c: Visit, row: KeyRow, { people, history, dormant, use }: About) {
  const { keys } = pathsOf(c)
  const { now } = c.get('rt')
  const preset = presetName(row.scopes)
  const title = (
    <>
      {row.name} <LifeBadge of={row} now={now} />
    </>
  )
  return show(
    c,
    { title: row.name, section: 'keys', above: ['API keys', keys] },
    <>
      <Head title={title}>{row.revoked_at === null && can(c, 'api_keys:write') && <Actions c={c} row={row} />}</Head>
      <Ending row={row} now={now} />
      {dormant.length > 0 && row.revoked_at === null && <Dormant of={dormant} />}
      <dl class="facts">
        <Fact name="Key">
          <code>{row.key_prefix}</code>
        </Fact>
        <Fact name="Last used">
          <Time at={row.last_used_at} now={now} />
        </Fact>
        <Fact name={row.expires_at !== null && row.expires_at <= now ? 'Expired' : 'Expires'}>
          <Time at={row.expires_at} now={now} />
        </Fact>
        <BoundFacts row={row} />
        <Fact name="Created">
          <Time at={row.created_at} now={now} />
        </Fact>
        <Fact name="Created by">
          <MinterAddress of={row} people={people} />
        </Fact>
        {row.issued_to !== row.created_by && (
          <Fact name="Current secret issued to">
            <Holder of={row} people={people} />
          </Fact>
        )}
      </dl>
      <Secrets c={c} row={row} people={people} />
      <UseOfKey of={use} />
      <h2>Scopes</h2>
      <Scopes of={row.scopes} />
      <p class="hint">
        {preset !== undefined && `The key has the scopes of the preset “${preset}”. `}The scopes of a key never change.
      </p>
      <h2>ID</h2>
      <Copyable id="key-id" label="key ID">
        {row.id}
      </Copyable>
      {history && <History c={c} entries={history} none="No recent changes." />}
      {history && (
        <p>
          <a href={`${pathsOf(c).audit}?object_id=${row.id}`}>All changes to this key</a> ·{' '}
          <a href={`${pathsOf(c).audit}?actor_id=${row.id}`}>All changes made with this key</a>
        </p>
      )}
    </>,
  )
}

/** What a person must know about a key that does not work, or stops soon. */
function Ending({ row: { revoked_at, expires_at }, now }: { row: KeyRow; now: number }) {
  if (revoked_at !== null) {
    return (
      <p class="warning" role="note">
        The key was revoked at {exact(revoked_at)}. Requests with it fail with status 401.
      </p>
    )
  }
  if (expires_at === null || expires_at > now) return null
  return (
    <p class="warning" role="note">
      The key expired at {exact(expires_at)}. Requests with it fail with status 401. It still counts toward the limit of
      API keys until you revoke it.
    </p>
  )
}

/** What a person must know about dormant scopes. */
function Dormant({ of }: { of: Scope[] }) {
  return (
    <p class="warning" role="note">
      <code>{of.join(', ')}</code> has no effect now: the user who created the key, or the one who received its secret,
      no longer has a role that includes it. It works again once they have such a role. The key’s other scopes still
      work.
    </p>
  )
}

/** The key that the path names. */
export function addressedKey(c: Visit) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

export const keyPath = (c: Visit, id: string) => `${pathsOf(c).keys}/${encodeURIComponent(id)}`

/** Reads the key in the path, if it is live. @throws {Fault} `not_found` */
export async function readKey(c: Visit): Promise<KeyRow> {
  const { db } = c.get('rt')
  const { project_id, id } = addressedKey(c)
  return requireFound(await run(db, findKey(db, { project_id, id })), 'API key')
}
