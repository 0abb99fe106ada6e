import { describe, expect, it } from 'vitest'
import api from '../../docs/reference/api.md?raw'
import { MAX_DETAILS } from '../../src/audit/store'
import { saidOf } from '../../src/console/pages/audit-log/words'
import { inLine } from '../../src/console/ui/differences'
import { MAX_KEY } from '../../src/lib/catalog-key'
import { MAX_CONSUMER_KEY, MAX_CONSUMER_KEYS, MAX_DEVICES, MAX_RENEWAL_SLACK_HOURS } from '../../src/tenancy/limits'
import { DEFAULTS, ofDirectory, ofStore, ProjectSettings, SETTINGS } from '../../src/tenancy/settings'
import { call, freshProject, storedTables } from '../harness'
import type { Json } from '../harness/json-schema'

const DEVICES = 'Active devices per consumer'

/** What the audit log says a change of settings changed. */
const linesOf = (details: Record<string, unknown>) =>
  saidOf({ action: 'project.settings_changed', details }).changes.map(inLine).join('; ')

describe.each(Object.entries(SETTINGS))('the setting %s', (name, setting) => {
  const value = setting.default

  it('has a default that the API takes', () => {
    expect(ProjectSettings.shape[name as keyof typeof SETTINGS].parse(value)).toEqual(value)
  })

  it('has words for the audit log', () => {
    const { did } = saidOf({ action: 'project.settings_changed', details: null })
    expect([did, linesOf({ [name]: value })]).toEqual([
      'Changed a setting',
      expect.stringMatching(/^(?!.*\bnull\b)[A-Z][^:]+: ./),
    ])
  })

  it('set to what it is already writes nothing, in no log either', async () => {
    const { project, owner } = await freshProject()
    const json = { settings: { [name]: value } }
    const set = () => call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, json })
    expect((await set()).status).toBe(200)
    const before = await storedTables()
    expect((await set()).body.settings).toHaveProperty(name, value)
    expect(await storedTables()).toEqual(before)
  })

  it('is decided by one database', () => {
    const owned = setting.decides === 'directory'
    const change = { [name]: value }
    expect([ofDirectory(change), ofStore(change)]).toEqual(owned ? [change, {}] : [{}, change])
  })

  it('is in docs/reference/api.md with its default, and with who may change it', () => {
    // A stolen key must not keep a report from ending it.
    const others = name === 'on_exposure' ? 'admins' : 'admins, keys'
    const who = setting.decides === 'directory' ? 'owners' : others
    expect(api).toContain(`\n| \`${name}\` | \`${JSON.stringify(value)}\` | ${who} | [`)
  })
})

it('A change of no setting is refused as such', async () => {
  const { project, owner } = await freshProject()
  const path = `/platform/v1/projects/${project}`
  const { status, body } = await call(path, { method: 'PATCH', token: owner.token, json: { settings: {} } })
  expect([status, body.errors]).toEqual([
    422,
    [{ pointer: '/settings', code: 'required', message: 'must have at least one setting' }],
  ])
})

const ENTRIES = '/platform/v1/audit-log?action=project.settings_changed'

it('A change is logged with what it replaces, also where two are made at once', async () => {
  const { project, owner } = await freshProject()
  const set = (settings: object) =>
    call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, json: { settings } })
  await set({ grace_days: 3, max_devices: 100 })
  await Promise.all([4, 5, 6].map((grace_days) => set({ grace_days })))
  await set({ grace_days: null })
  const entries = (await call(ENTRIES, { project, token: owner.token })).body.data.reverse()
  const [first, ...others]: Json[] = entries.map(({ details }: Json) => details)
  expect(first).toEqual({ grace_days: 3, max_devices: 100, before: { grace_days: 7, max_devices: 100 } })
  // Each begins with what another one has left. Ids of one moment have no order.
  const chain = new Map(others.map(({ grace_days, before }) => [before.grace_days, grace_days]))
  const days = [3, ...others.map(() => 0)]
  for (const i of others.keys()) days[i + 1] = chain.get(days[i])
  expect([days.toSorted(), days[0], days.at(-1)]).toEqual([[3, 4, 5, 6, null], 3, null])
})

it('The longest values of all settings of a store fit into one entry, with those that they replace', async () => {
  const { project, owner } = await freshProject()
  const token = owner.token
  const path = `/platform/v1/projects/${project}`
  const devices_feature = 'f'.repeat(MAX_KEY)
  const feature = { name: 'Seats', type: 'quantity' }
  await call(`/platform/v1/billing/features/${devices_feature}`, { method: 'PUT', project, token, json: feature })
  const plan = { key: 'team', name: 'Team', features: {}, prices: [] }
  const made = await call('/platform/v1/billing/plans', { method: 'POST', project, token, json: plan })
  const longest = (digit: number) => ({
    link_hints: digit === 1,
    consumer_keys: Array.from({ length: MAX_CONSUMER_KEYS }, (_, i) => `${digit}${i}`.padEnd(MAX_CONSUMER_KEY, 'k')),
    max_devices: MAX_DEVICES - digit,
    devices_feature,
    grace_days: null,
    renewal_slack_hours: MAX_RENEWAL_SLACK_HOURS - digit,
    test_mode_counts: digit === 1,
    purchase_item_keys: ['p', 'q'].map((key) => `${digit}${key}`.padEnd(MAX_CONSUMER_KEY, 'k')),
    purchase_rules: { refunded_part: 'keep', refunded_whole: 'keep', dispute_open: 'suspend', dispute_lost: 'keep' },
    subscription_reversed: 'keep',
    default_plan: made.body.id,
    watch_entitlements: digit === 1,
    on_exposure: 'revoke',
  })
  expect(Object.keys(longest(1))).toEqual(Object.keys(ofStore(DEFAULTS)))
  for (const digit of [1, 2]) {
    const set = await call(path, { method: 'PATCH', token, json: { settings: longest(digit) } })
    expect(set.status, set.text).toBe(200)
  }
  const [{ details }] = (await call(ENTRIES, { project, token })).body.data
  expect(details).toEqual({ ...longest(2), before: longest(1) })
  expect(JSON.stringify(details).length).toBeLessThanOrEqual(MAX_DETAILS)
})

it('The API names the settings that only owners change', async () => {
  const document: Json = (await call('/openapi.json')).body
  const { description } = document.paths['/platform/v1/projects/{id}'].patch
  for (const name of Object.keys(ofDirectory(DEFAULTS))) expect(description).toContain(`\`${name}\``)
})

it('The audit log says each setting of a change, and nothing of one that this version does not know', () => {
  const details = { max_devices: 5, trusted_connections: ['sso_one', 'sso_two'], unknown: true }
  expect(linesOf(details)).toBe(
    'Active devices per consumer: 5; Trusted single sign-on connections of other projects: sso_one, sso_two',
  )
})

it.each([
  ['a number', { grace_days: 7 }, { grace_days: 3 }, 'Days of access while a subscription is past due: 3 → 7'],
  [
    'null, as the form says it',
    { grace_days: null, default_plan: null },
    { grace_days: 3, default_plan: 'pln_1' },
    'Days of access while a subscription is past due: 3 → as long as the vendor reports it; Default plan: pln_1 → none',
  ],
  [
    'only what differs',
    { max_devices: 5, link_hints: true },
    { max_devices: 3, link_hints: true },
    `${DEVICES}: 3 → 5`,
  ],
  ['all, if nothing differs', { max_devices: 5 }, { max_devices: 5 }, `${DEVICES}: 5`],
  [
    'one of the rules of purchases',
    { purchase_rules: { ...DEFAULTS.purchase_rules, dispute_lost: 'keep' } },
    { purchase_rules: DEFAULTS.purchase_rules },
    'When a dispute is lost: The purchase ends → The purchase keeps granting access',
  ],
  [
    'what no form changes',
    { trusted_connections: [] },
    { trusted_connections: ['sso_one', 'sso_two'] },
    'Trusted single sign-on connections of other projects: sso_one, sso_two → none',
  ],
])('The audit log says what a change replaced: %s', (_, after, before, says) => {
  expect(linesOf({ ...after, before })).toBe(says)
})
