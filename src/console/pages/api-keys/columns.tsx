import type { KeyRow } from '../../../api-keys/key'
import { missingScopes } from '../../../lib/access'
import { presetName } from '../../../lib/key-presets'
import type { People } from '../../../tenancy/people'
import { can, pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Choose } from '../../ui/choosing'
import { plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { LifeBadge } from './expiry'

/**
 * The columns of the list.
 *
 * @param people the members of the project; null if they are not known
 */
export function keyColumns(c: Visit, people: People | null): Column<KeyRow>[] {
  const { now } = c.get('rt')
  const { keys } = pathsOf(c)
  const columns: Column<KeyRow>[] = [
    [
      'Name',
      (row) => (
        <>
          {can(c, 'api_keys:write') && <Choose id={row.id} name={row.name} />}
          <a class="name" href={`${keys}/${row.id}`}>
            {row.name}
          </a>
          <code class="line quiet">{row.key_prefix}</code>
          <span class="line quiet also">
            Created <Time at={row.created_at} now={now} /> by {addressOf(row, people)}
          </span>
        </>
      ),
    ],
    ['Scopes', (row) => <ScopeNames of={row.scopes} />],
    ['Last used', (row) => <Time at={row.last_used_at} now={now} />],
    [
      'Expires',
      (row) => (
        <>
          <Time at={row.expires_at} now={now} /> <LifeBadge of={row} now={now} />
        </>
      ),
    ],
    ['Created', (row) => <Time at={row.created_at} now={now} />, 'repeated'],
    ['Created by', (row) => <Minter of={row} people={people} />, 'repeated'],
  ]
  return can(c, 'api_keys:write') ? [...columns, ['', (row) => <Actions c={c} row={row} />]] : columns
}

/** The user who minted a key and, if somebody else received its current secret, who that is. */
function Minter({ of: row, people }: { of: KeyRow; people: People | null }) {
  return (
    <>
      <MinterAddress of={row} people={people} />
      {row.issued_to !== row.created_by && (
        <span class="line quiet">
          Secret issued to <Holder of={row} people={people} />
        </span>
      )}
    </>
  )
}

/** The address of the user who minted a key, and whether that user has left the project. */
export function MinterAddress({ of: row, people }: { of: KeyRow; people: People | null }) {
  return (
    <>
      <span class="cut">{addressOf(row, people)}</span>{' '}
      {people && !people.has(row.created_by) && <Badge of="former member" />}
    </>
  )
}

function addressOf(row: KeyRow, people: People | null): string {
  return row.minter_email ?? people?.get(row.created_by) ?? 'Unknown'
}

/** Whom the current secret was handed to. */
export function Holder({ of: row, people }: { of: KeyRow; people: People | null }) {
  if (row.issued_to === row.id) return <>the key itself</>
  if (row.issued_to === row.created_by) return <>{addressOf(row, people)}</>
  if (!row.issued_to.startsWith('key_')) return <>{people?.get(row.issued_to) ?? 'a former member'}</>
  return <>API key “{row.issued_to_name ?? row.issued_to}”</>
}

/** The name of the preset with these scopes; or the names of up to two; or the number of more. The page of the key lists them all. */
function ScopeNames({ of }: { of: readonly string[] }) {
  const preset = presetName(of)
  if (preset !== undefined) return <>{preset}</>
  if (of.length > 2) return <>{plural(of.length, 'scope').replace(' ', '\u00a0')}</>
  return (
    <>
      {of.map((scope) => (
        <code class="line">{scope}</code>
      ))}
    </>
  )
}

/** What the user may do with a live key. */
export function Actions({ c, row }: { c: Visit; row: KeyRow }) {
  const action = (verb: string, asks: boolean) => (
    <a class="button" href={`${pathsOf(c).keys}/${row.id}/${verb.toLowerCase()}`} data-dialog={asks || undefined}>
      {verb}
      <span class="unseen"> {row.name}</span>
    </a>
  )
  return (
    <>
      {action('Edit', false)}
      {mayRotate(c, row) && action('Rotate', true)}
      {action('Revoke', true)}
    </>
  )
}

/** Whether the user may rotate this key. The user must have all of the key's scopes. */
function mayRotate(c: Visit, row: KeyRow): boolean {
  const { scopes } = userOf(c)
  const live = row.expires_at === null || row.expires_at > c.get('rt').now
  return live && scopes.includes('api_keys:write') && missingScopes(row.scopes, scopes).length === 0
}
