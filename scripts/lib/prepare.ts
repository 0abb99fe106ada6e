import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrateLocal } from './d1.ts'
import { ensureDevVars } from './dev-vars.ts'
import { asked, localText } from './local-config.ts'
import { newestMigration } from './migrations.ts'
import { STATE_DIR } from './paths.ts'
import { boundStores } from './stores-config.ts'

/**
 * The last migration that was applied here, and to which stores. It is kept with the data, so whoever deletes one
 * deletes both.
 */
const MARKER = join(STATE_DIR, 'migrated')

/** Makes what a local server needs and does not have: secrets, and the tables of the newest migration. */
export async function prepareLocal(): Promise<void> {
  const made = ensureDevVars()
  if (made.length > 0) console.log(`Created local settings in .dev.vars: ${made.join(', ')}`)
  const stores = boundStores(localText(asked))
  const newest = newestMigration()
  const prepared = preparedStores() ?? []
  const state = `${newest} ${stores.join()}`
  const before = existsSync(MARKER) ? readFileSync(MARKER, 'utf8') : ''
  if (before === state) return
  console.log('Applying migrations …')
  // A local server has one isolate, so a new store does not need to wait before it takes projects.
  const rows = stores.map((store) => `(${store}, 0)`).join(', ')
  await migrateLocal(
    before.startsWith(`${newest} `) ? stores.filter((one) => !prepared.includes(one)) : stores,
    `INSERT INTO stores (number, first_seen_at) VALUES ${rows} ON CONFLICT DO UPDATE SET first_seen_at = 0`,
  )
  writeFileSync(MARKER, state)
}

/** The numbers of the stores whose local databases exist; null in a checkout that has none yet. */
export function preparedStores(): number[] | null {
  if (!existsSync(MARKER)) return null
  const [, stores = ''] = readFileSync(MARKER, 'utf8').split(' ')
  return stores.split(',').map(Number)
}
