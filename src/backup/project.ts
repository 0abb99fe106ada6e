import { getTableName, type SQL, sql } from 'drizzle-orm'
import { attempts, events } from '../inbox/schema'
import { projects } from '../tenancy/schema'
import type { Scope } from './backup'
import type { Table } from './tables'

/**
 * Columns that an export of a project leaves out: secrets, even as hashes or encrypted. They are of no use elsewhere. A table that
 * would have no columns left is not exported.
 */
export const SECRET_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['hash', 'pending_hash', 'previous_hash'],
  connections: ['secrets'],
  devices: ['pending_hash', 'previous_hash', 'token_hash'],
  entitlement_keys: ['box', 'key'],
  idempotency: ['fingerprint', 'key_hash'],
  sso_connections: ['secret'],
  vendor_keys: ['box', 'key'],
  webhook_endpoints: ['secrets'],
}

/**
 * The rows of one project in a database, without secrets. Rows that do not name a project are about people or about the deployment
 * and are not exported. The attempts of an event are: they belong to the project of the event.
 */
export function scopeOf(projectId: string): Scope {
  const own = new Map<string, SQL>([
    [getTableName(projects), sql`id = ${projectId}`],
    [
      getTableName(attempts),
      sql`EXISTS (SELECT 1 FROM ${events} WHERE ${events.project_id} = ${projectId} AND ${events.id} = event_id)`,
    ],
  ])
  return {
    project_id: projectId,
    choose: ({ name, columns }: Table) => {
      const of = columns.some((column) => column.name === 'project_id') ? sql`project_id = ${projectId}` : own.get(name)
      const secret = SECRET_COLUMNS[name] ?? []
      return of ? { of, columns: columns.filter((column) => !secret.includes(column.name)) } : null
    },
  }
}
