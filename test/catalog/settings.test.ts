import { beforeEach, describe, expect, it } from 'vitest'
import { CATALOG_SETTINGS, DEFAULTS, ofCatalog } from '../../src/tenancy/settings'
import { type Answer, call, freshKey, PROJECTS, tamperedD1 } from '../harness'
import { rows } from '../inbox/pipeline'
import { catalogAs } from './catalog'

/* The settings in the document with the whole catalog. */

let project: string
let owner: string
let api: ReturnType<typeof catalogAs>
beforeEach(async () => {
  const made = await freshKey()
  project = made.project
  owner = made.owner.token
  api = catalogAs(project, made.secret)
})

const CATALOG = {
  features: { seats: { name: 'Seats', type: 'quantity' }, sso: { name: 'SSO', type: 'boolean' } },
  plans: { free: { name: 'Free' }, pro: { name: 'Pro' }, old: { name: 'Old', state: 'archived' } },
}
const withSettings = (settings: object) => ({ ...CATALOG, settings })
const UNSET = ofCatalog(DEFAULTS)
const SET: typeof UNSET = {
  default_plan: 'pro',
  devices_feature: 'seats',
  max_devices: 5,
  grace_days: null,
  renewal_slack_hours: 0,
  subscription_reversed: 'end',
  purchase_rules: { ...UNSET.purchase_rules, refunded_part: 'end' },
  purchase_item_keys: ['sku'],
}
const patch = (settings: object, of = project, token = owner) =>
  call<{ settings: Record<string, unknown> }>(`${PROJECTS}/${of}`, { method: 'PATCH', token, json: { settings } })
const stored = async () =>
  (await call<{ settings: Record<string, unknown> }>(`${PROJECTS}/${project}`, { token: owner })).body.settings
const planId = async (key: string) => (await api.plans()).body.data.find((plan) => plan.key === key)?.id
const problem = ({ status, body }: Answer<unknown>) => {
  const { code, errors = [] } = body as { code?: string; errors?: { pointer: string }[] }
  return [status, code, ...errors.map(({ pointer }) => pointer)]
}
const logged = (of: string) =>
  rows(
    `SELECT l.action, l.object_type, l.object_id = l.project_id AS own, l.details, j.value ->> 'type' AS told, j.value -> 'fields' AS fields
     FROM audit_log l LEFT JOIN changes c ON c.project_id = l.project_id
       LEFT JOIN json_each(c.items) j ON j.value ->> 'type' = l.action
     WHERE l.project_id = ? AND l.action = 'project.settings_changed' AND j.value IS NOT NULL ORDER BY l.id`,
    of,
  )

describe('a setting in the document', () => {
  it('is set and unset, one by one, and a second time nothing is written', async () => {
    expect((await api.put(CATALOG)).body.writes.settings).toEqual([])
    expect((await api.whole()).body.settings).toEqual(UNSET)
    for (const name of CATALOG_SETTINGS) {
      for (const all of [SET, UNSET]) {
        const document = withSettings({ [name]: all[name] })
        const [before, preview] = [await api.whole(), await api.previewWhole(document)]
        const { status, body, headers, text } = await api.put(document)
        expect([status, body.writes.settings], text).toEqual([200, [name]])
        expect(preview.body.writes).toEqual(body.writes)
        expect(body.version).not.toBe(before.body.version)
        const read = await api.whole()
        expect([read.body.settings, read.headers.get('ETag')]).toEqual([
          { ...UNSET, [name]: all[name] },
          headers.get('ETag'),
        ])
        const expected = name === 'default_plan' && all === SET ? await planId('pro') : all[name]
        expect((await stored())[name]).toEqual(expected)
        for (const same of [document, CATALOG]) {
          expect((await api.put(same)).body).toEqual({
            version: body.version,
            writes: { ...body.writes, settings: [] },
          })
        }
      }
    }
  })

  it('leaves what a PATCH of the project leaves', async () => {
    const other = await freshKey()
    await Promise.all([api.put(CATALOG), catalogAs(other.project, other.secret).put(CATALOG)])
    const { default_plan: _, ...plain } = SET
    expect((await api.put(withSettings({ ...plain, default_plan: null }))).status).toBe(200)
    await patch(plain, other.project, other.owner.token)
    // Equal as objects: the document has an order of its own.
    const log = async (of: string) =>
      (await logged(of)).map(({ details, fields, ...one }) => ({
        ...one,
        details: JSON.parse(String(details)),
        fields: JSON.parse(String(fields)).sort(),
      }))
    expect(await log(project)).toEqual(await log(other.project))
    expect(await log(project)).toHaveLength(1)
  })

  it('names a plan that is new, and lets the default plan of before be archived', async () => {
    await api.put(withSettings({ default_plan: 'free' }))
    const { free, ...others } = CATALOG.plans
    const archived = { ...CATALOG, plans: { ...others, free: { ...free, state: 'archived' }, team: { name: 'Team' } } }
    expect(problem(await api.put(archived))).toEqual([409, 'plan_is_default'])
    const { body } = await api.put({ ...archived, settings: { default_plan: 'team' } })
    expect(body.writes).toMatchObject({
      plans: { created: ['team'], updated: ['free'] },
      settings: ['default_plan'],
    })
    expect((await stored()).default_plan).toBe(await planId('team'))
    expect((await api.whole()).body.settings.default_plan).toBe('team')
  })

  it('lets the feature of devices_feature go, if that names another one', async () => {
    await api.put(withSettings({ devices_feature: 'seats' }))
    const without = { ...CATALOG, features: { places: { name: 'Places', type: 'quantity' } } }
    expect(problem(await api.put(without))).toEqual([409, 'feature_in_use'])
    const moved = await api.put({ ...without, settings: { devices_feature: 'places' } })
    expect([moved.status, (await stored()).devices_feature]).toEqual([200, 'places'])
  })

  it.each<[string, object, string[]]>([
    ['no plan of the document', { default_plan: 'gone' }, ['/settings/default_plan']],
    ['an archived plan', { default_plan: 'old' }, ['/settings/default_plan']],
    ['no feature of the document', { devices_feature: 'gone' }, ['/settings/devices_feature']],
    [
      'a boolean feature, and no plan',
      { devices_feature: 'sso', default_plan: 'x' },
      ['/settings/devices_feature', '/settings/default_plan'],
    ],
    ['a setting that is not in it', { test_mode_counts: true }, ['/settings/test_mode_counts']],
    ['a wrong value', { grace_days: -1 }, ['/settings/grace_days']],
    ['too many keys', { purchase_item_keys: Array(300_000).fill(0) }, ['/settings/purchase_item_keys']],
  ])('is refused: %s', async (_, settings, pointers) => {
    await api.put(CATALOG)
    const before = await stored()
    for (const answer of [await api.put(withSettings(settings)), await api.previewWhole(withSettings(settings))]) {
      expect(problem(answer)).toEqual([422, 'validation_failed', ...pointers])
    }
    expect(await stored()).toEqual(before)
  })
})

it('a change of settings requires projects:write, and the same settings do not', async () => {
  await api.put(withSettings(SET))
  const json = { name: 'catalog', scopes: ['catalog:read', 'catalog:write'] }
  const made = await call<{ secret: string }>('/platform/v1/api-keys', { method: 'POST', project, token: owner, json })
  const limited = catalogAs(project, made.body.secret)
  const { version: _, ...whole } = (await limited.whole()).body
  expect(
    (await limited.put({ ...whole, features: { ...whole.features, api: { name: 'API', type: 'boolean' } } })).status,
  ).toBe(200)
  const other = { ...CATALOG, settings: { max_devices: 6, grace_days: 1 } }
  expect((await limited.previewWhole(other)).status).toBe(200)
  const refused = await limited.put(other)
  expect(problem(refused)).toEqual([403, 'insufficient_scope'])
  expect(refused.body).toMatchObject({
    detail: expect.stringMatching(/max_devices.*grace_days.*projects:write|grace_days.*max_devices.*projects:write/),
  })
  expect(await stored()).toMatchObject({ max_devices: 5, grace_days: null })
  expect((await api.whole()).body.features).toHaveProperty('api')
})

describe('at the same time as a change of a setting', () => {
  it.each<[string, object]>(
    CATALOG_SETTINGS.filter((name) => name !== 'default_plan').map((name) => [name, { [name]: SET[name] }]),
  )('412 since the ETag: %s', async (_, settings) => {
    const { headers } = await api.put(CATALOG)
    expect((await patch(settings)).status).toBe(200)
    const matching = { headers: { 'If-Match': headers.get('ETag') ?? '' } }
    expect(problem(await api.put(CATALOG, matching))).toEqual([412, 'precondition_failed'])
  })

  it('between the read and the write: the document counts, unless it has If-Match', async () => {
    const { headers } = await api.put(CATALOG)
    const put = async (options: object) => {
      let meddled = false
      const DB = tamperedD1(async ({ sql, run }) => {
        if (!meddled && /INSERT INTO "audit_log"/i.test(sql)) {
          meddled = true
          // Null is not the same as unset.
          await patch({ grace_days: null, max_devices: 7 })
        }
        return run()
      })
      const { status } = await api.put(withSettings({ grace_days: 3 }), { bindings: { DB }, ...options })
      const { grace_days, max_devices } = await stored()
      return [meddled, status, grace_days, max_devices]
    }
    expect(await put({ headers: { 'If-Match': headers.get('ETag') ?? '' } })).toEqual([true, 412, null, 7])
    await patch({ grace_days: 7, max_devices: 100 })
    expect(await put({})).toEqual([true, 200, 3, 7])
  })
})
