import type { Context } from 'hono'
import type { CustomerKey } from '../../../billing/customers/read'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'

/** The path of a customer's page. */
export function customerPath(c: Context<HttpEnv>, { vendor, id }: CustomerKey): string {
  return `${pathsOf(c).customers}/${vendor}/${encodeURIComponent(id)}`
}
