import { insertFeatures } from '../catalog/rows'
import { insertConsumer } from '../consumers/rows'
import { insertGrants } from '../entitlements/rows'
import { call, freshKey } from '../harness'

/** For each fault of grants, a request that is refused with it. */
export const OF_GRANTS = {
  grant_limit_reached: async () => {
    const { project, secret } = await freshKey()
    await insertFeatures(project, 'sso')
    const consumer = await insertConsumer(project, 'ada')
    await insertGrants(project, consumer, 100)
    const json = { consumer, feature: 'sso' }
    return call('/platform/v1/billing/grants', { method: 'POST', project, token: secret, json })
  },
}
