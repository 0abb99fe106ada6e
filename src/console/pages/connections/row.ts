import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/store'
import { idTime } from '../../../lib/ids'
import { pathsOf } from '../../page'

/** Where a connection's page is. */
export function pathOf(c: Context<HttpEnv>, { id }: ConnectionRow): string {
  return `${pathsOf(c).connections}/${id}`
}

/** When a connection last received an event. */
export const lastOf = (row: ConnectionRow) => (row.last_event_id === null ? null : idTime(row.last_event_id))

export const modeOf = (row: ConnectionRow) => (row.livemode ? 'Live' : 'Test')

/** A short secret shows nothing of itself. */
export function secretName(hint: string): string {
  return hint === '' ? 'secret' : `secret ending in ${hint}`
}
