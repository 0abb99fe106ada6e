/* The lists and objects of the API, as rows of the mirror. */
import type { Vendor } from 'platform-api-client'
import type { Api, HttpClient } from './api.ts'
import { type Json, keyOf, type TableName, type Write } from './tables.ts'

/** An object that is to be read: its table, its key there, and the revision that it has at least. */
export type Wanted = Pick<Write, 'table' | 'key' | 'revision'>
type Page = { data: Json[]; next_cursor: string | null; watching?: string }

/** Rows of one page: the most that a list gives. */
const LIMIT = 100
/** Answers for an object that is not there, or no longer by itself: a change says what it was merged into. */
export const NOT_THERE = ['not_found', 'consumer_merged']

/** Reads a page of a list. */
export function readList({ client, ask }: Api, table: TableName, cursor: string | null): Promise<Page> {
  const params = { query: { limit: LIMIT, ...(cursor !== null && { cursor }) } }
  return ask<Page>(() => LISTS[table](client, params))
}

type Params = { query: { limit: number; cursor?: string } }
const LISTS = {
  consumers: (client: HttpClient, params: Params) => client.GET('/platform/v1/consumers', { params }),
  subscriptions: (client: HttpClient, params: Params) => client.GET('/platform/v1/billing/subscriptions', { params }),
  invoices: (client: HttpClient, params: Params) => client.GET('/platform/v1/billing/invoices', { params }),
  payment_methods: (client: HttpClient, params: Params) =>
    client.GET('/platform/v1/billing/payment-methods', { params }),
  purchases: (client: HttpClient, params: Params) => client.GET('/platform/v1/billing/purchases', { params }),
  customers: (client: HttpClient, params: Params) => client.GET('/platform/v1/billing/customers', { params }),
  entitlements: (client: HttpClient, params: Params) => client.GET('/platform/v1/billing/entitlements', { params }),
}

/** Reads an object. @returns its row; one without an object if there is none */
export async function readObject({ client, askUnless }: Api, wanted: Wanted): Promise<Write | null> {
  const { table, key } = wanted
  // A vendor that this version of the client does not know is passed on as it is.
  const [vendor, id = ''] = key as [Vendor, string?]
  const params = { path: { id }, query: { vendor } }
  const object = await askUnless<Json>(NOT_THERE, () => {
    switch (table) {
      case 'subscriptions':
        return client.GET('/platform/v1/billing/subscriptions/{id}', { params })
      case 'invoices':
        return client.GET('/platform/v1/billing/invoices/{id}', { params })
      case 'payment_methods':
        return client.GET('/platform/v1/billing/payment-methods/{id}', { params })
      case 'purchases':
        return client.GET('/platform/v1/billing/purchases/{id}', { params })
      case 'customers':
        return client.GET('/platform/v1/billing/customers/{vendor}/{id}', { params: { path: { vendor, id } } })
      default:
        return client.GET('/platform/v1/consumers/{consumer}', { params: { path: { consumer: key[0] ?? '' } } })
    }
  })
  // A consumer that was merged has a change that says so, after the one because of which it is read.
  if (object === null && table === 'consumers') return null
  return { ...wanted, object: object && shown(table, object) }
}

/** An object of a list as a row. */
export function rowOf(table: TableName, object: Json): Write {
  const { revision = null, ...rest } = object
  return { table, key: keyOf(table, object), object: shown(table, rest), revision: revision as number | null }
}

/** The row of a consumer that was merged into another one: nothing is left of it but this. */
export function merged(id: string, into: string): Write {
  return { table: 'consumers', key: [id], object: { id, state: 'merged', merged_into: into }, revision: null }
}

/** Objects that belong to the consumer of their customer. The consumer can change when they do not, so only the customer's row has it. */
const OF_CUSTOMERS: readonly TableName[] = ['subscriptions', 'invoices', 'payment_methods', 'purchases']

/** Lists within an object, which are tables of their own. */
const LISTS_WITHIN: ReadonlySet<string> = new Set([
  'customers',
  'devices',
  'subscriptions',
  'invoices',
  'payment_methods',
  'purchases',
])

/**
 * What the mirror has of an object: null for one that was deleted or erased, and for a consumer who is allowed nothing. Lists within it are
 * tables of their own.
 */
function shown(table: TableName, object: Json): Json | null {
  const { status, state, id, merged_into } = object
  if (table === 'consumers' && state === 'merged') return merged(String(id), String(merged_into)).object
  if (status === 'deleted' || state === 'erased') return null
  // Of a consumer who could be allowed something, but is not, the list has a row without features.
  if (table === 'entitlements' && Object.keys(object.features as Json).length === 0) return null
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !LISTS_WITHIN.has(name)))
  if (OF_CUSTOMERS.includes(table)) delete rest.consumer_id
  return rest
}

/** Reads the customers of a consumer, as objects to be read. */
export async function customersOf({ client, askUnless }: Api, consumer: string): Promise<Wanted[]> {
  const found: Wanted[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: { consumer: string; limit: number; cursor?: string } = {
      consumer,
      limit: LIMIT,
      ...(cursor && { cursor }),
    }
    const page: Page | null = await askUnless<Page>(NOT_THERE, () =>
      client.GET('/platform/v1/billing/customers', { params: { query } }),
    )
    for (const row of page?.data ?? []) found.push({ table: 'customers', key: keyOf('customers', row), revision: null })
    cursor = page?.next_cursor ?? null
  }
  return found
}

/** Reads the payment methods of a customer. */
export async function paymentMethodsOf({ client, ask }: Api, vendor: string, customer: string): Promise<Write[]> {
  const found: Write[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: { vendor: Vendor; customer: string; limit: number; cursor?: string } = {
      vendor: vendor as Vendor,
      customer,
      limit: LIMIT,
      ...(cursor && { cursor }),
    }
    const page: Page = await ask<Page>(() => client.GET('/platform/v1/billing/payment-methods', { params: { query } }))
    found.push(...page.data.map((row) => rowOf('payment_methods', row)))
    cursor = page.next_cursor
  }
  return found
}
