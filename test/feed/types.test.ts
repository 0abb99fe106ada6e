import { expect, it } from 'vitest'
import { ACTIONS } from '../../src/console/pages/audit-log/words'
import { EMPTY } from '../../src/consumers/schema'
import { CHANGE_OBJECTS, CHANGE_TYPES } from '../../src/feed/types'
import { insertConsumer } from '../consumers/rows'
import { freshProject, STORE } from '../harness'

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

it.each(Object.keys(EMPTY))('tells that the %s of a consumer changed', async (field) => {
  const { project } = await freshProject()
  const id = await insertConsumer(project)
  await STORE.prepare(`UPDATE consumers SET ${field} = '{"a":1}' WHERE project_id = ? AND id = ?`)
    .bind(project, id)
    .run()
  const items = await STORE.prepare('SELECT items FROM changes WHERE project_id = ? ORDER BY seq DESC LIMIT 1')
    .bind(project)
    .first<string>('items')
  expect(JSON.parse(items ?? '[]')).toMatchObject([{ type: 'consumer.updated', id, fields: [field] }])
})
