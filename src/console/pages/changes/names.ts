import { featureRef, type NamedObject, readNamed, readNamedAnd } from '../../../audit-log/objects'
import { findObjects, type ObjectKey } from '../../../billing/read/store'
import { plansIn } from '../../../entitlements/named'
import type { Change } from '../../../feed/fields'
import { projectOf } from '../../../http/auth'
import type { Scope } from '../../../lib/access'
import type { ShownKind } from '../../../lib/billing-kinds'
import { type People, readMembers } from '../../../tenancy/people'
import { can, type Visit } from '../../page'
import { cut } from '../../ui/format'
import { idsIn } from '../audit-log/names'
import { grantTitle } from '../audit-log/words'
import { hasPage, titleIn } from '../billing/title'

/**
 * What the objects of changes are called, by their ids, and the members of the project, who may have made them. `billing`: the objects
 * of vendors, by {@link billingRef}, with their currencies and modes.
 */
export type Names = { objects: ReadonlyMap<string, NamedObject>; people: People; billing: ReadonlyMap<string, Billed> }
type Billed = { title: string | undefined; currency: unknown; livemode: unknown }

export const NO_NAMES: Names = { objects: new Map(), people: new Map(), billing: new Map() }

/** Bytes of an object of a vendor whose name is read, and characters that are shown of the name. */
const LARGEST_NAMED = 16 * 1024
const TITLE_SHOWN = 60

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
  if (changes.length === 0) return NO_NAMES
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ids = changes.flatMap((change) => namedIn(change)).filter((id) => mayName(c, id))
  const keys = can(c, 'billing:read') ? billedIn(changes) : []
  const billed = findObjects(rt.db, project, keys, { beside: plansIn(project), largest: LARGEST_NAMED })
  const [{ objects, found }, people] = await Promise.all([
    readNamedAnd(rt, project, ids, { billed }),
    ids.some((id) => id.startsWith('aud_')) ? readMembers(rt, project) : null,
  ])
  // What entries name beside their objects, such as the default plan of a setting: few do.
  const inDetails = [...objects.values()].flatMap(({ entry }) => idsIn(entry?.details ?? null))
  const others = await readNamed(
    rt,
    project,
    inDetails.filter((id) => !objects.has(id) && mayName(c, id)),
  )
  const billing = found.billed.map((row) => {
    const ref = billingRef({ type: row.kind, vendor: row.vendor, id: row.vendor_id })
    const title = cut(titleIn(row) ?? '', TITLE_SHOWN) || undefined
    return [ref, { title, currency: row.body?.currency, livemode: row.body?.livemode }] as const
  })
  return { objects: new Map([...objects, ...others]), people: people ?? NO_NAMES.people, billing: new Map(billing) }
}

const isBilled = (type: string): type is ShownKind => hasPage(type) || type === 'customer'

/** The objects of vendors that changes are about. */
function billedIn(changes: readonly Change[]): Required<ObjectKey>[] {
  const keys = changes.flatMap(({ object: { type, id, vendor } }) =>
    vendor !== null && isBilled(type) ? { kind: type, id, vendor } : [],
  )
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/** The key of an object of a vendor. */
const billingRef = ({ type, vendor, id }: Change['object']) => JSON.stringify([type, vendor, id])

/** What is known of the object of a vendor that a change is about. */
export const billedBy = ({ object }: Change, { billing }: Names) => billing.get(billingRef(object))

/** The mode of what a change is about, if it has one. Of an object whose body does not say, that of the event that changed it. */
export function modeOfChange(change: Change, names: Names): boolean | undefined {
  const { type, id } = change.object
  if (!isBilled(type)) return names.objects.get(id)?.livemode
  const livemode = billedBy(change, names)?.livemode
  return typeof livemode === 'boolean' ? livemode : names.objects.get(madeBy(change)?.id ?? '')?.livemode
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
export function nameOf(change: Change, { objects }: Names): string | undefined {
  const { object, consumer_id } = change
  if (object.id.startsWith('prj_')) return 'This project'
  const name = objects.get(object.type === 'feature' ? featureRef(object.id) : object.id)?.name
  // Only the entry still has the name of a deleted feature.
  if (change.type === 'feature.deleted') return name ?? nameIn(objects.get(madeBy(change)?.id ?? ''))
  if (object.type !== 'grant' || name === undefined) return name
  return grantTitle(name, consumer_id === null ? undefined : objects.get(consumer_id)?.name)
}

function nameIn(entry: NamedObject | undefined): string | undefined {
  const name = entry?.entry?.details?.name
  return typeof name === 'string' ? name : undefined
}
