import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/store'
import { idTime } from '../../../lib/ids'
import { pathsOf } from '../../page'

/** The path of a connection's page. */
export function pathOf(c: Context<HttpEnv>, { id }: ConnectionRow): string {
  return `${pathsOf(c).connections}/${id}`
}

/** When the connection last received an event; null for never. */
export const lastOf = (row: ConnectionRow) => (row.last_event_id === null ? null : idTime(row.last_event_id))

export const modeOf = (row: ConnectionRow) => (row.livemode ? 'Live' : 'Test')

/** A name for a secret. The hint is empty for a short secret. */
export function secretName(hint: string): string {
  return hint === '' ? 'secret' : `secret ending in ${hint}`
}
