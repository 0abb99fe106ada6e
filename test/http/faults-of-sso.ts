import { customersWorld } from '../sso/customers'

/** For each fault of single sign-on, a request that is refused with it. */
export const OF_SSO = {
  connection_inactive: async () => (await customersWorld({ state: 'draft' })).authorize(),
  invalid_grant: async () => (await customersWorld()).token('0'.repeat(64)),
}
