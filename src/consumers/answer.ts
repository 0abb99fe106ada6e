import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'
import { etagOf } from '../http/etag'
import { Consumer, present } from './fields'
import type { Consumer as Row } from './store'

/** A response with one consumer. */
export const shown = (description: string) => ({ description, schema: Consumer, etag: true }) as const

/** A consumer as the API shows it. Sets the `ETag` of the response. */
export function tagged(c: Context<HttpEnv>, row: Row) {
  c.header('ETag', etagOf(row.revision))
  return present(row)
}
