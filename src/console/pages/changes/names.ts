import { featureRef, type NamedObject, readNamed } from '../../../audit-log/objects'
import type { Change } from '../../../feed/fields'
import { projectOf } from '../../../http/auth'
import type { Scope } from '../../../lib/access'
import { type People, readMembers } from '../../../tenancy/people'
import { can, type Visit } from '../../page'
import { idsIn } from '../audit-log/names'
import { grantTitle } from '../audit-log/words'

/** What the objects of changes are called, by their ids, and the members of the project, who may have made them. */
export type Names = { objects: ReadonlyMap<string, NamedObject>; people: People }

export const NO_NAMES: Names = { objects: new Map(), people: new Map() }

/**
 * The scope that one needs to be told what an id stands for, by the beginning of the id. Of the others, only those are told of a
 * change who may read its object.
 */
const SCOPES: Record<string, Scope> = {
  csm_: 'consumers:read',
  evt_: 'billing:read',
  aud_: 'audit_log:read',
}

/** Reads what changes name, for those who may read it: in one round trip to each database. */
export async function readNames(c: Visit, changes: readonly Change[]): Promise<Names> {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ids = changes.flatMap((change) => namedIn(change)).filter((id) => mayName(c, id))
  const [objects, people] = await Promise.all([
    readNamed(rt, project, ids),
    ids.some((id) => id.startsWith('aud_')) ? readMembers(rt, project) : null,
  ])
  // What entries name beside their objects, such as the default plan of a setting: few do.
  const inDetails = [...objects.values()].flatMap(({ entry }) => idsIn(entry?.details ?? null))
  const others = await readNamed(
    rt,
    project,
    inDetails.filter((id) => !objects.has(id) && mayName(c, id)),
  )
  return { objects: new Map([...objects, ...others]), people: people ?? NO_NAMES.people }
}

function namedIn(change: Change): string[] {
  const { object, type } = change
  const ofCatalog = object.type === 'feature' || type === 'plan.updated' ? [featureRef(object.id)] : []
  return [object.id, change.consumer_id ?? [], madeBy(change)?.id ?? [], ofCatalog].flat()
}

function mayName(c: Visit, id: string): boolean {
  const scope = SCOPES[id.slice(0, 4)]
  return scope === undefined || can(c, scope)
}

/** What made a change; of entitlements, the last of the changes that may have. Undefined if it is not reported, or was time. */
export function madeBy({ cause, causes }: Change): NonNullable<Change['cause']> | undefined {
  return cause ?? causes?.at(-1)?.cause ?? undefined
}

/** What the object of a change is called. Undefined: by its id. */
export function nameOf({ object, consumer_id }: Change, { objects }: Names): string | undefined {
  const name = objects.get(object.type === 'feature' ? featureRef(object.id) : object.id)?.name
  if (object.id.startsWith('prj_')) return 'This project'
  if (object.type !== 'grant' || name === undefined) return name
  return grantTitle(name, consumer_id === null ? undefined : objects.get(consumer_id)?.name)
}
