import { featureRef, type NamedObject, readNamed } from '../../../audit-log/objects'
import type { ListRow, AuditRow as Row } from '../../../audit-log/read'
import { actorsOf } from '../../../audit-log/read'
import type { Runtime } from '../../../env'
import { type People, readAddresses } from '../../../tenancy/people'
import type { Difference } from '../../ui/differences'
import { differencesOf } from '../plans/differences'
import type { NamedEntry } from './entry'
import { grantTitle } from './words'

export type Present = (row: Row) => NamedEntry

/** Reads the people and the objects that entries name: from the directory and from the project's store, side by side. */
export async function readNames(rt: Runtime, project: string, rows: readonly ListRow[]): Promise<Present> {
  const [people, objects] = await Promise.all([
    readAddresses(rt, [...actorsOf(rows), ...rows.map(({ object_id }) => object_id ?? '')]),
    readNamed(
      rt,
      project,
      rows.flatMap((row) => [row.object_id ?? [], idsIn(row.details), ofCatalog(row)].flat()),
    ),
  ])
  return (row) => ({
    ...row,
    said: saidIn(objects, row),
    actor_email: people.get(row.actor_id) ?? null,
    object: objectOf(objects, row) ?? personIn(people, row.object_id),
    differences: planChanged(objects, row.id),
  })
}

/** What names an entry of the catalog, and what a change of a plan changed. */
function ofCatalog({ id, action, object_type, object_id }: ListRow): string[] {
  if (object_type === 'feature') return [featureRef(object_id ?? '')]
  return action === 'plan.updated' ? [id, featureRef('')] : []
}

/** What the change of a plan changed, by the id of its entry; undefined if that is not kept. */
export function planChanged(objects: ReadonlyMap<string, NamedObject>, id: string): Difference[] | undefined {
  const { before, after } = objects.get(id)?.entry ?? {}
  if (!before || !after) return undefined
  const catalog = [...objects.values()].filter((one) => one.id.startsWith(featureRef('')))
  const features = catalog.map(({ id: ref, name }) => ({ key: ref.slice(featureRef('').length), name }))
  return differencesOf(before, after, features)
}

/** What an entry is about, a grant with the name of its consumer. */
function objectOf(objects: ReadonlyMap<string, NamedObject>, { object_type, object_id, details }: Row) {
  const found = objects.get(object_type === 'feature' ? featureRef(object_id) : object_id)
  if (object_type !== 'grant' || !found) return found
  return { ...found, name: grantTitle(found.name, objects.get(String(details?.consumer))?.name) }
}

/** The details of an entry with names in place of ids, and with what a grant gives, or denies. */
export function saidIn(
  objects: ReadonlyMap<string, NamedObject>,
  { object_type, object_id, details }: Pick<Row, 'object_type' | 'object_id' | 'details'>,
): Details | null {
  const grant = object_type === 'grant' ? objects.get(object_id) : undefined
  return details && { ...calledBy(objects, details), ...(grant && { gives: grant.name }) }
}

type Details = NonNullable<Row['details']>

/** The consumers, plans and domains that details name, also in what a change has replaced. */
export function idsIn(details: ListRow['details'] | readonly unknown[]): string[] {
  return Object.values(details ?? {}).flatMap((value) => {
    if (isDetails(value) || Array.isArray(value)) return idsIn(value)
    return typeof value === 'string' && /^(csm|pln|dom)_/.test(value) ? value : []
  })
}

/** Details with names in place of the ids of consumers, plans and domains. */
function calledBy(objects: ReadonlyMap<string, NamedObject>, details: Details): Details {
  const known = (value: unknown): unknown => {
    if (isDetails(value)) return calledBy(objects, value)
    if (Array.isArray(value)) return value.map(known)
    return typeof value === 'string' ? (objects.get(value)?.name ?? value) : value
  }
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, known(value)]))
}

function isDetails(value: unknown): value is Details {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that an entry is about, by their address. */
function personIn(people: People, id: string) {
  const name = people.get(id)
  return name === undefined ? null : { id, name, ended_at: null }
}

/** As {@link readNames}, without the objects. It reads only the people who are not known yet. */
export async function readPeople(rt: Runtime, known: People | null, rows: readonly ListRow[]): Promise<Present> {
  const others = await readAddresses(
    rt,
    actorsOf(rows).filter((id) => !known?.has(id)),
  )
  return (row) => ({
    ...row,
    said: row.details,
    actor_email: known?.get(row.actor_id) ?? others.get(row.actor_id) ?? null,
    object: null,
  })
}
