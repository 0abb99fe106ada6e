import { newId } from '../../src/lib/ids'
import { insertFeatures, insertPlan } from '../catalog/rows'
import { STORE } from '../harness'
import { asks, byKey, may, type Rows, read, times } from './row'

const FEATURES = '/platform/v1/billing/features'
const PLANS = '/platform/v1/billing/plans'
const PAGES = '/console/p/:project/platform/billing'
const WRITE = may('developer', 'catalog:write')
const onFeature = (what: string) => ({ action: `feature.${what}`, object: () => 'unused' })
const PRO = { key: 'pro', name: 'Pro' }
const PLAN_FIELDS = { key: 'sample', name: 'sample', rank: '1', state: 'active' }

/** The catalog of a world, changed. */
const DOCUMENT = {
  features: {
    sso: { name: 'sso', type: 'boolean' },
    seats: { name: 'seats', type: 'quantity' },
    unused: { name: 'unused', type: 'boolean' },
  },
  plans: { pro: { name: 'sample', rank: 1, state: 'active', features: { sso: { value: true } }, prices: [] } },
}
const CATALOG_PATH = '/platform/v1/billing/catalog'

/** A catalog whose plans give more than a project can have. */
async function tooLarge() {
  const { project, send } = await byKey()
  await insertPlan(project, 'other')
  await STORE.prepare('UPDATE plans SET features = \'{"f":"\' || hex(zeroblob(524288)) || \'"}\' WHERE project_id = ?')
    .bind(project)
    .run()
  return send
}

export const CATALOG: Rows = {
  [`GET ${CATALOG_PATH}`]: {
    who: read('catalog:read'),
  },
  [`PUT ${CATALOG_PATH}`]: {
    who: WRITE,
    json: DOCUMENT,
    audit: { action: 'plan.updated', object: ({ plan }) => plan },
  },
  [`POST ${CATALOG_PATH}/preview`]: {
    who: read('catalog:read'),
    json: DOCUMENT,
    audit: null,
  },
  'GET /platform/v1/billing/features': {
    who: read('catalog:read'),
    list: {
      id: (row) => row.key,
      add: ({ project }, n) => times(n, () => insertFeatures(project, `z_${newId('evt', Date.now())}`)),
      ascending: true,
    },
    console: { [`GET ${PAGES}/features`]: {}, [`GET ${PAGES}/features/:key`]: { policy: 'user' } },
  },
  'PUT /platform/v1/billing/features/:key': {
    who: WRITE,
    json: { name: 'sample', type: 'boolean' },
    audit: onFeature('updated'),
    faults: {
      feature_type_fixed: async () => {
        const { project, send } = await byKey()
        await insertFeatures(project, 'sso')
        return send('PUT', `${FEATURES}/sso`, { name: 'SSO', type: 'config' })
      },
      feature_limit_reached: async () => {
        const { project, send } = await byKey()
        await insertFeatures(project, ...Array.from({ length: 200 }, (_, n) => `f${n}`))
        return send('PUT', `${FEATURES}/sso`, { name: 'SSO', type: 'boolean' })
      },
    },
    console: {
      [`GET ${PAGES}/features/new`]: {},
      [`POST ${PAGES}/features`]: {
        action: 'feature.created',
        object: () => 'sample',
        fields: { key: 'sample', name: 'sample', type: 'boolean' },
      },
      ...asks(`${PAGES}/features/:key/edit`, { fields: { name: 'sample' } }),
    },
  },
  'DELETE /platform/v1/billing/features/:key': {
    who: WRITE,
    audit: onFeature('deleted'),
    faults: {
      feature_in_use: async () => {
        const { project, send } = await byKey()
        await insertFeatures(project, 'sso')
        await insertPlan(project, 'pro')
        return send('DELETE', `${FEATURES}/sso`)
      },
    },
    console: asks(`${PAGES}/features/:key/delete`),
  },
  'POST /platform/v1/billing/plans': {
    who: WRITE,
    json: {
      key: 'sample',
      name: 'sample',
      rank: 1,
      state: 'active',
      features: { seats: { value: 5, per_seat: true } },
      prices: [{ vendor: 'stripe', ref: 'price_sample' }],
    },
    status: 201,
    audit: { action: 'plan.created', object: () => /^pln_/ },
    faults: {
      plan_key_taken: async () => {
        const { project, send } = await byKey()
        await insertPlan(project, 'pro')
        return send('POST', PLANS, PRO)
      },
      plan_limit_reached: async () => {
        const { project, send } = await byKey()
        await STORE.prepare(
          `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 100)
           INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
           SELECT ?, 'pln_' || v, 'p' || v, 'p', 0, 'archived', '{}', 1, 0 FROM n`,
        )
          .bind(project)
          .run()
        return send('POST', PLANS, PRO)
      },
      catalog_limit_reached: async () => {
        const send = await tooLarge()
        return send('POST', PLANS, PRO)
      },
      price_mapped: async () => {
        const { project, send } = await byKey()
        await insertPlan(project, 'other', 'price_1')
        return send('POST', PLANS, { ...PRO, prices: [{ vendor: 'stripe', ref: 'price_1' }] })
      },
    },
    console: {
      [`GET ${PAGES}/plans/new`]: {},
      [`GET ${PAGES}/plans/add`]: {},
      [`POST ${PAGES}/plans`]: { fields: PLAN_FIELDS },
    },
  },
  'GET /platform/v1/billing/plans': {
    who: read('catalog:read'),
    list: { add: ({ project }, n) => times(n, () => insertPlan(project, newId('evt', Date.now()))) },
    console: { [`GET ${PAGES}/plans`]: {} },
  },
  'GET /platform/v1/billing/plans/unmapped-prices': { who: read('billing:read') },
  'GET /platform/v1/billing/plans/:id': { who: read('catalog:read'), console: { [`GET ${PAGES}/plans/:plan`]: {} } },
  'PATCH /platform/v1/billing/plans/:id': {
    who: WRITE,
    json: { key: 'sample', name: 'sample', rank: 1, state: 'archived', features: {}, prices: [] },
    audit: { action: 'plan.updated', object: ({ plan }) => plan },
    faults: {
      plan_is_default: async () => {
        const { project, send } = await byKey()
        const default_plan = await insertPlan(project, 'free')
        await STORE.prepare('UPDATE projects SET settings = ? WHERE id = ?')
          .bind(JSON.stringify({ default_plan }), project)
          .run()
        return send('PATCH', `${PLANS}/${default_plan}`, { state: 'archived' })
      },
    },
    console: asks(`${PAGES}/plans/:plan/edit`, { fields: { ...PLAN_FIELDS, step: 'save', etag: '"1"' } }),
  },
  'POST /platform/v1/billing/plans/:id/preview': {
    who: read('catalog:read'),
    json: { rank: 2, features: {}, prices: [] },
    audit: null,
  },
}
