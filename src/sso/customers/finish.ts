import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import type { Finishing } from '../login/finishing'
import { SignInRefused } from '../login/refused'

/**
 * Leads back to the customer's application with a code.
 *
 * @throws {SignInRefused} if nobody is signed in: its reason goes to the same address
 */
export async function finishCustomers(_c: Context<HttpEnv>, _: Finishing): Promise<Response> {
  throw new SignInRefused('not_supported', 'Single sign-on for customers is not here yet.')
}
