import type { KeyRow } from '../../../api-keys/key'
import { dormantScopes, type Role, rankOf } from '../../../lib/access'
import { can, pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { Time } from '../../ui/parts'
import type { Affected } from './read'

/** How many things a confirmation names. Of the others, it gives the number. */
const NAMED = 8

/** Whose role is taken away, in the words of a confirmation. */
export type Whose = 'they' | 'you'

/**
 * What follows for the API keys and the invitations of a member who gets a lower role.
 *
 * @param kept the role that is left; null if none is
 */
export function Consequences({ c, of, kept, whose }: { c: Visit; of: Affected; kept: Role | null; whose: Whose }) {
  const before = of.member?.role ?? null
  const asleep = [...of.minted, ...of.held].filter(({ scopes }) => falling(scopes, before, kept).length > 0)
  const lost = [...new Set(asleep.flatMap(({ scopes }) => falling(scopes, before, kept)))]
  const offers = of.offers.filter(
    ({ role }) => rankOf(role) >= rankOf('admin') && (kept === null || rankOf(role) > rankOf(kept)),
  )
  return (
    <>
      {asleep.length > 0 && (
        <p class="warning" role="note">
          The {lost.length === 1 ? 'scope' : 'scopes'} <code>{lost.join(', ')}</code> of{' '}
          {plural(asleep.length, 'API key')} that {whose} created or rotated {lost.length === 1 ? 'stops' : 'stop'}{' '}
          working: {names(asleep)}. Their other scopes keep working.
        </p>
      )}
      {kept === null && of.held.length > 0 && (
        <p class="warning" role="note">
          {whose === 'they' ? 'They know' : 'You know'} the secret of {plural(of.held.length, 'other key')} too, because{' '}
          {whose} rotated {of.held.length === 1 ? 'it' : 'them'}: <Linked c={c} keys={of.held} />. Rotate{' '}
          {of.held.length === 1 ? 'it' : 'them'} again.
        </p>
      )}
      {offers.length > 0 && (
        <p>
          {plural(offers.length, 'pending invitation')} that {whose} sent {offers.length === 1 ? 'ends' : 'end'},
          because {offers.length === 1 ? 'it offers' : 'they offer'} admin or owner:{' '}
          {listed(offers.map(({ email }) => email))}.
        </p>
      )}
    </>
  )
}

/**
 * The API keys that a member who leaves has created, and the choice to revoke them, with the others whose secret they know.
 */
export function MintedKeys({ c, of, whose }: { c: Visit; of: Affected; whose: Whose }) {
  const { minted: keys, held } = of
  if (keys.length === 0)
    return <p>{whose === 'they' ? 'They' : 'You'} have not created any API keys that are still active.</p>
  const one = keys.length === 1
  return (
    <>
      <p>
        {plural(keys.length, 'API key')} {one ? 'was' : 'were'} created by {whose === 'they' ? 'them' : 'you'} and{' '}
        {one ? 'keeps' : 'keep'} working:
      </p>
      <ul>
        {keys.slice(0, NAMED).map((row) => (
          <li>
            <strong>{row.name}</strong> <code>{row.key_prefix}</code>, last used{' '}
            <Time at={row.last_used_at} now={c.get('rt').now} none="never" />
          </li>
        ))}
        {keys.length > NAMED && <li>and {keys.length - NAMED} more</li>}
      </ul>
      {can(c, 'api_keys:write') && (
        <div class="checks one">
          <label>
            <input type="checkbox" name="revoke_keys" value="true" autocomplete="off" /> Revoke {one ? 'it' : 'them'}{' '}
            too
            {one ? '' : ', all of them'}
            {held.length > 0 && `, and the ${plural(held.length, 'other key')} whose secret ${whose} know`}
          </label>
        </div>
      )}
    </>
  )
}

/** The scopes of a key that count with one role of a user that it depends on, but not with the other. */
function falling(scopes: KeyRow['scopes'], before: Role | null, after: Role | null) {
  const asleep = dormantScopes(scopes, before)
  return dormantScopes(scopes, after).filter((scope) => !asleep.includes(scope))
}

function Linked({ c, keys }: { c: Visit; keys: KeyRow[] }) {
  return (
    <>
      {keys.slice(0, NAMED).map(({ id, name }, n) => (
        <>
          {n > 0 && ', '}
          <a href={`${pathsOf(c).keys}/${id}`}>{name}</a>
        </>
      ))}
      {keys.length > NAMED && ` and ${keys.length - NAMED} more`}
    </>
  )
}

const names = (keys: KeyRow[]) => listed(keys.map(({ name }) => `“${name}”`))

function listed(all: string[]): string {
  const shown = all.slice(0, NAMED).join(', ')
  return all.length > NAMED ? `${shown} and ${all.length - NAMED} more` : shown
}
