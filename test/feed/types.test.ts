import { expect, it } from 'vitest'
import { ACTIONS } from '../../src/console/pages/audit-log/words'
import { CHANGE_OBJECTS, CHANGE_TYPES } from '../../src/feed/types'
import { STORE } from '../harness'

/** What changes in the directory, which the feed leaves out. */
const OF_DIRECTORY = /^(member|invitation|domain|sso|sso_connection|sso_identity)\./

it('has every change that the audit log of a store can have, and the trigger tells it', async () => {
  const actions = Object.keys(ACTIONS).filter((action) => !OF_DIRECTORY.test(action))
  expect(actions.filter((action) => !(action in CHANGE_TYPES))).toEqual([])
  const trigger = await STORE.prepare("SELECT sql FROM sqlite_master WHERE name = 'audit_log_told'").first<string>(
    'sql',
  )
  const told = [...(trigger?.match(/IN \(([^)]*)\)/)?.[1]?.matchAll(/'(\w+)'/g) ?? [])].map(([, type]) => type)
  expect(told.filter((type) => !(CHANGE_OBJECTS as string[]).includes(`${type}`))).toEqual([])
  const audited = [...new Set(actions.map((action) => CHANGE_TYPES[action as keyof typeof CHANGE_TYPES].object))]
  expect(audited.filter((object) => !told.includes(object))).toEqual([])
})

it('has each type in its documentation, beside the scope that it needs', () => {
  const [page = ''] = Object.values(
    import.meta.glob<string>('../../docs/reference/changes.md', { query: '?raw', import: 'default', eager: true }),
  )
  const [, types = ''] = page.split('\n## Types\n')
  const lines = types.split('\n').filter((line) => line.startsWith('| `'))
  for (const [type, { scope }] of Object.entries(CHANGE_TYPES)) {
    const line = lines.filter((one) => one.split('|')[1]?.includes(`\`${type}\``))
    expect([type, line.length, line[0]?.split('|')[2]?.trim()]).toEqual([type, 1, `\`${scope}\``])
  }
})
