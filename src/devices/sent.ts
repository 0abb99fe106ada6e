import { or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type * as z from 'zod'
import { expiryIn } from '../api-keys/mint'
import { devices } from '../consumers/schema'
import { iso } from '../lib/time'
import type { UpdateDeviceBody } from './fields'

const d = alias(devices, 'd')

type Row = typeof devices.$inferSelect
type Settable = 'platform' | 'name' | 'model' | 'os_version' | 'app_version' | 'scopes' | 'metadata' | 'expires_at'

/** What a call says about a device, as it is stored; undefined stays as it is, null is cleared. */
export type DeviceFields = { [Name in Settable]?: Row[Name] | undefined }

/** The fields of a body as they are stored. @throws {Fault} `validation_failed` if `expires_at` is not in the future */
export function storedFields(body: z.infer<typeof UpdateDeviceBody>, now: number): Omit<DeviceFields, 'platform'> {
  const { scopes, metadata, expires_at, ...texts } = body
  return {
    ...texts,
    scopes: scopes?.length === 0 ? null : scopes,
    metadata: metadata && Object.keys(metadata).length === 0 ? null : metadata,
    expires_at: expires_at === undefined ? undefined : expiryIn(expires_at, now),
  }
}

/**
 * What differs between a stored device and the fields that were sent.
 *
 * @param of the table, or `d` for a row that is selected
 * @returns `any`: whether anything does; `names`: the names of the fields, as a JSON list
 */
export function differing(sent: DeviceFields, of: Record<keyof DeviceFields, unknown>): { any: SQL; names: SQL } {
  const known = Object.entries(sent).filter(([, value]) => value !== undefined) as [Settable, Row[Settable]][]
  const terms = known.map(
    ([name, value]) => [name, sql`${of[name]} IS NOT ${sql.param(value, devices[name])}`] as const,
  )
  const named = sql.join(
    terms.map(([name, differs]) => sql`iif(${differs}, ${name}, NULL)`),
    sql`, `,
  )
  return {
    any: or(...terms.map(([, differs]) => differs)) ?? sql`0`,
    names: sql`(SELECT json_group_array(value) FROM json_each(json_array(${named})) WHERE value IS NOT NULL)`,
  }
}

/** The details of an audit entry about the row `d` that is about to be changed. Neither texts nor metadata: they may be personal data. */
export function detailsOfChange(sent: DeviceFields, more: Record<string, string>): SQL {
  const { scopes, expires_at } = sent
  const said = {
    ...more,
    ...(scopes !== undefined && { scopes: scopes ?? [] }),
    ...(expires_at !== undefined && { expires_at: expires_at === null ? 'never' : iso(expires_at) }),
  }
  const own = sql`json_object('consumer', ${d.consumer_id}, 'fields', json(${differing(sent, d).names}))`
  return sql`json_patch(${own}, ${JSON.stringify(said)})`
}
