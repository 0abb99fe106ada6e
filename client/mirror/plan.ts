/* What the changes of a page of the feed ask of a mirror. */
import type { Change } from 'platform-api-client'
import type { Wanted } from './objects.ts'
import type { TableName } from './tables.ts'

/** The changes that a mirror follows. Each needs the scope that reads its object. */
export const TYPES = [
  'subscription.*',
  'invoice.*',
  'payment_method.*',
  'purchase.*',
  'customer.*',
  'consumer.*',
  'entitlements.*',
  'project.settings_changed',
].join(',')

export type Plan = {
  /** Objects to read, each once, with the greatest revision that a change names. */
  objects: Map<string, Wanted>
  /** Customers to read unless the mirror has them. */
  named: Map<string, Wanted>
  /** Consumers whose customers are to be read: their external ids are others than before. */
  owners: Set<string>
  /** Customers whose payment methods are to be read: another one may be the default. */
  payers: Map<string, Wanted>
  /** Merged consumers, in order, each with the consumer it was merged into. */
  merges: { id: string; into: string }[]
  erased: string[]
  /** Changes of what consumers are allowed, in order. */
  told: Change[]
  /** Whether the feed may have stopped to tell of entitlements. */
  settings: boolean
  /** Whether the feed tells of entitlements from now on. */
  watching: boolean
}

const OBJECTS: Partial<Record<Change['object']['type'], TableName>> = {
  subscription: 'subscriptions',
  invoice: 'invoices',
  payment_method: 'payment_methods',
  purchase: 'purchases',
  customer: 'customers',
  consumer: 'consumers',
}

export function planOf(changes: readonly Change[]): Plan {
  const plan: Plan = {
    objects: new Map(),
    named: new Map(),
    owners: new Set(),
    payers: new Map(),
    merges: [],
    erased: [],
    told: [],
    settings: false,
    watching: false,
  }
  for (const change of changes) add(plan, change)
  return plan
}

function add(plan: Plan, change: Change): void {
  const { type, object } = change
  if (type === 'entitlements.changed') plan.told.push(change)
  else if (type === 'entitlements.watching') plan.watching = true
  else if (type === 'project.settings_changed') plan.settings = true
  else if (object.type === 'consumer') addConsumer(plan, change)
  else addBilling(plan, change)
}

function addConsumer(plan: Plan, { type, object: { id }, consumer_id, revision }: Change): void {
  if (type === 'consumer.erased') {
    plan.erased.push(id)
    return
  }
  const into = type === 'consumer.merged' ? consumer_id : null
  if (into !== null) plan.merges.push({ id, into })
  const stays = into ?? id
  want(plan.objects, { table: 'consumers', key: [stays], revision: into === null ? revision : null })
  if (['consumer.created', 'consumer.named', 'consumer.merged'].includes(type)) plan.owners.add(stays)
}

function addBilling(plan: Plan, { type, object, customer, former, fields, revision }: Change): void {
  const table = OBJECTS[object.type]
  if (table === undefined || object.vendor === null) return
  const { vendor } = object
  const wanted = { table, key: [vendor, object.id], revision }
  want(plan.objects, wanted)
  // With its first event, a customer has a default or none; before, this was not known.
  const hasDefault = revision === 1 || fields === null || fields.includes('default_payment_method')
  if (type === 'customer.changed' && hasDefault) want(plan.payers, wanted)
  if (table === 'customers') return
  // An object can be the first that names a customer, or have been the last.
  if (customer !== null) want(plan.named, { table: 'customers', key: [vendor, customer], revision: null })
  if (former?.customer) want(plan.objects, { table: 'customers', key: [vendor, former.customer], revision: null })
}

function want(all: Map<string, Wanted>, wanted: Wanted): void {
  const name = nameOf(wanted)
  const before = all.get(name)?.revision ?? null
  const greatest = before !== null && (wanted.revision === null || wanted.revision < before) ? before : wanted.revision
  all.set(name, { ...wanted, revision: greatest })
}

export function nameOf({ table, key }: Pick<Wanted, 'table' | 'key'>): string {
  return JSON.stringify([table, ...key])
}
