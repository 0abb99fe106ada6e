import { describe, expect, it } from 'vitest'
import api from '../../docs/reference/api.md?raw'
import { saidOf } from '../../src/console/pages/audit-log/words'
import { DEFAULTS, ofDirectory, ofStore, ProjectSettings, SETTINGS } from '../../src/tenancy/settings'
import { call, freshProject, storedTables } from '../harness'
import type { Json } from '../harness/json-schema'

describe.each(Object.entries(SETTINGS))('the setting %s', (name, setting) => {
  const value = setting.default

  it('has a default that the API takes', () => {
    expect(ProjectSettings.shape[name as keyof typeof SETTINGS].parse(value)).toEqual(value)
  })

  it('has words for the audit log', () => {
    const [did, more] = saidOf({ action: 'project.settings_changed', details: { [name]: value } })
    expect([did, more]).toEqual(['Changed a setting', expect.stringMatching(/^(?!.*\bnull\b)[A-Z][^:]+: ./)])
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

it('The API names the settings that only owners change', async () => {
  const document: Json = (await call('/openapi.json')).body
  const { description } = document.paths['/platform/v1/projects/{id}'].patch
  for (const name of Object.keys(ofDirectory(DEFAULTS))) expect(description).toContain(`\`${name}\``)
})

it('The audit log says each setting of a change, and nothing of one that this version does not know', () => {
  const details = { max_devices: 5, trusted_connections: ['sso_one', 'sso_two'], unknown: true }
  expect(saidOf({ action: 'project.settings_changed', details })[1]).toBe(
    'Active devices per consumer: 5; Trusted single sign-on connections of other projects: sso_one, sso_two',
  )
})
