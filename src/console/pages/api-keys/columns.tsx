import type { Context } from 'hono'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { missingScopes } from '../../../lib/access'
import type { People } from '../../../members/people'
import { can, pathsOf } from '../../page'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import type { Column } from '../../ui/table'

/**
 * The columns of the list.
 *
 * @param people the members of the project; null if they are not known
 */
export function columnsOf(c: Context<HttpEnv>, people: People | null): Column<KeyRow>[] {
  const { now } = c.get('rt')
  const columns: Column<KeyRow>[] = [
    ['Name', (row) => row.name],
    ['Key', (row) => <code>{row.key_prefix}</code>],
    ['Scopes', (row) => <Scopes of={row.scopes} />],
    ['Last used', (row) => <Time at={row.last_used_at} now={now} />],
    ['Created', (row) => <Time at={row.created_at} now={now} />],
    [
      'Created by',
      (row) => (
        <>
          {addressOf(row, people)} {people && !people.has(row.created_by) && <Badge of="former member" />}
        </>
      ),
    ],
    ['Secret issued to', (row) => <Holder of={row} people={people} />],
    [
      'Expires',
      (row) => (
        <>
          <Time at={row.expires_at} now={now} />{' '}
          {row.expires_at !== null && row.expires_at <= now && <Badge of="expired" />}
        </>
      ),
    ],
  ]
  return can(c, 'api_keys:write') ? [...columns, ['', (row) => <Actions c={c} row={row} />]] : columns
}

/** The address of the user who minted a key. */
function addressOf(row: KeyRow, people: People | null): string {
  return row.minter_email ?? people?.get(row.created_by) ?? 'Unknown'
}

/** Whom the current secret was handed to. */
function Holder({ of: row, people }: { of: KeyRow; people: People | null }) {
  if (row.issued_to === row.id) return <>The key itself</>
  if (row.issued_to === row.created_by) return <>{addressOf(row, people)}</>
  if (!row.issued_to.startsWith('key_')) return <>{people?.get(row.issued_to) ?? 'Unknown'}</>
  return <>API key “{row.issued_to_name ?? row.issued_to}”</>
}

function Scopes({ of }: { of: readonly string[] }) {
  return (
    <details>
      <summary>{plural(of.length, 'scope')}</summary>
      {of.map((scope) => (
        <code class="line">{scope}</code>
      ))}
    </details>
  )
}

function Actions({ c, row }: { c: Context<HttpEnv>; row: KeyRow }) {
  const action = (verb: string, asks: boolean) => (
    <a class="button" href={`${pathsOf(c).keys}/${row.id}/${verb.toLowerCase()}`} data-dialog={asks || undefined}>
      {verb}
      <span class="unseen"> {row.name}</span>
    </a>
  )
  return (
    <>
      {action('Edit', false)} {mayRotate(c, row) && action('Rotate', true)} {action('Revoke', true)}
    </>
  )
}

/** Whether the user may rotate this key. The user must have all of the key's scopes. */
function mayRotate(c: Context<HttpEnv>, row: KeyRow): boolean {
  const { scopes } = userOf(c)
  const live = row.expires_at === null || row.expires_at > c.get('rt').now
  return live && scopes.includes('api_keys:write') && missingScopes(row.scopes, scopes).length === 0
}
