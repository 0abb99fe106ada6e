import { insertFeatures, insertPlan } from '../catalog/rows'
import { call, freshKey, STORE } from '../harness'

const BILLING = '/platform/v1/billing'

/** For each fault of the catalog, a request that is refused with it. */
export const OF_CATALOG = {
  feature_type_fixed: async () => {
    const { project, secret } = await freshKey()
    await insertFeatures(project, 'sso')
    const json = { name: 'SSO', type: 'config' }
    return call(`${BILLING}/features/sso`, { method: 'PUT', project, token: secret, json })
  },
  feature_in_use: async () => {
    const { project, secret } = await freshKey()
    await insertFeatures(project, 'sso')
    await insertPlan(project, 'pro')
    return call(`${BILLING}/features/sso`, { method: 'DELETE', project, token: secret })
  },
  feature_limit_reached: async () => {
    const { project, secret } = await freshKey()
    await insertFeatures(project, ...Array.from({ length: 200 }, (_, n) => `f${n}`))
    const json = { name: 'SSO', type: 'boolean' }
    return call(`${BILLING}/features/sso`, { method: 'PUT', project, token: secret, json })
  },
  plan_key_taken: async () => {
    const { project, secret } = await freshKey()
    await insertPlan(project, 'pro')
    return call(`${BILLING}/plans`, { method: 'POST', project, token: secret, json: { key: 'pro', name: 'Pro' } })
  },
  plan_limit_reached: async () => {
    const { project, secret } = await freshKey()
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 100)
       INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
       SELECT ?, 'pln_' || v, 'p' || v, 'p', 0, 'archived', '{}', 1, 0 FROM n`,
    )
      .bind(project)
      .run()
    return call(`${BILLING}/plans`, { method: 'POST', project, token: secret, json: { key: 'pro', name: 'Pro' } })
  },
  price_mapped: async () => {
    const { project, secret } = await freshKey()
    await insertPlan(project, 'pro', 'price_1')
    const json = { key: 'free', name: 'Free', prices: [{ vendor: 'stripe', ref: 'price_1' }] }
    return call(`${BILLING}/plans`, { method: 'POST', project, token: secret, json })
  },
}
