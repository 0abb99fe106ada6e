import type { NamedObject } from '../../../audit-log/objects'
import type { Change } from '../../../feed/fields'
import type { ChangeType } from '../../../feed/types'
import { pathsOf, type Visit } from '../../page'
import { saidOf as entrySaid } from '../audit-log/words'
import { Linked } from './linked'
import { madeBy, type Names } from './names'
import { saidOf } from './words'

type CauseProps = { c: Visit; change: Change; names: Names }

/** What made a change; of entitlements, the last of the changes that may have, or time. */
export function Because({ c, change, names }: CauseProps) {
  const made = madeBy(change)
  if (!made) {
    const last = change.causes?.at(-1)
    return <span>{last && (last.type === 'time' ? 'time' : saidOf(last.type as ChangeType))}</span>
  }
  const named = names.objects.get(made.id)
  if (named?.entry) return <ByEntry c={c} change={change} entry={named} names={names} />
  // Fetches have no page of their own.
  const to = made.type === 'webhook_event' ? `${pathsOf(c).events}/${made.id}` : undefined
  return <Linked to={to} id={made.id} name={named?.name} />
}

type EntryProps = CauseProps & { entry: NamedObject }

/** Who made the change, with a link to the audit log of what they changed; and what they did, if that was another change. */
function ByEntry({ c, change, entry: { name, entry }, names: { people } }: EntryProps) {
  if (!entry) return null
  const { did } = entrySaid({ action: name, details: null })
  return (
    <>
      <a href={`${pathsOf(c).audit}?object_id=${encodeURIComponent(entry.object_id)}`} title={did}>
        <span class="cut">{whoIn(entry, people)}</span>
      </a>
      {name !== change.type && <span class="line quiet">{did}</span>}
    </>
  )
}

function whoIn(entry: NonNullable<NamedObject['entry']>, people: Names['people']): string {
  switch (entry.actor_type) {
    case 'system':
      return 'The service'
    case 'user':
      return people.get(entry.actor_id) ?? 'A former member'
    case 'api_key':
      return `API key “${entry.actor_name ?? entry.actor_id}”`
  }
}
