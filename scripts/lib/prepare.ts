import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from './d1.ts'
import { ensureDevVars } from './dev-vars.ts'
import { ROOT, STATE_DIR } from './paths.ts'

/** The last migration that was applied here. It is kept with the data, so that who deletes one deletes both. */
const MARKER = join(STATE_DIR, 'migrated')

/** Makes what a local server needs and does not have: secrets, and the tables of the newest migration. */
export async function prepareLocal(): Promise<void> {
  const made = ensureDevVars()
  if (made.length > 0) console.log(`Created local settings in .dev.vars: ${made.join(', ')}`)
  const newest = readdirSync(join(ROOT, 'drizzle'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .at(-1)
  if (newest === undefined || (existsSync(MARKER) && readFileSync(MARKER, 'utf8') === newest)) return
  console.log('Applying migrations …')
  await migrate('local')
  writeFileSync(MARKER, newest)
}
