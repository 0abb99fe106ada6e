import { expect, it } from 'vitest'
import { DEFAULTS, ofDirectory } from '../../src/tenancy/settings'
import { DIRECTORY } from '../harness'

// The feed leaves out what the directory decides. The trigger that writes it has the names of these settings as text.
it('is told in the feed of each setting but those that the directory decides', async () => {
  const trigger = await DIRECTORY.prepare("SELECT sql FROM sqlite_master WHERE name = 'audit_log_told'").first<{
    sql: string
  }>()
  const named = Object.keys(DEFAULTS).filter((name) => trigger?.sql.includes(`'${name}'`))
  expect(named.toSorted()).toEqual(Object.keys(ofDirectory(DEFAULTS)).toSorted())
})
