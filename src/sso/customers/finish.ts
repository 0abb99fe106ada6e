import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import type { Finishing } from '../login/finishing'
import { SsoError } from '../oidc/types'

/**
 * Leads back to the customer's application with a code.
 *
 * @throws {SsoError} if nobody is signed in: its reason goes to the same address
 */
export async function finishCustomers(_c: Context<HttpEnv>, _: Finishing): Promise<Response> {
  throw new SsoError('not_supported', 'Single sign-on for customers is not here yet.')
}
