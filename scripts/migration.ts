/*
 * npm run db:generate: generates a migration with drizzle-kit, which gets the arguments, and does what drizzle-kit cannot: it adds
 * WITHOUT ROWID to the CREATE TABLE statements (a table without a primary key keeps its rowid, and so does one whose key is an
 * integer, which is the rowid), and keeps the newest snapshot alone, because drizzle-kit compares the schema with no other.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const kit = ['node_modules/drizzle-kit/bin.cjs', 'generate', ...process.argv.slice(2)]
const { status } = spawnSync(process.execPath, kit, { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

for (const name of readdirSync('drizzle').filter((file) => file.endsWith('.sql'))) {
  const path = `drizzle/${name}`
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(/(CREATE TABLE [^;]*PRIMARY KEY[^;]*\n\));/g, (table, columns) =>
    table.includes('integer PRIMARY KEY') ? table : `${columns} WITHOUT ROWID;`,
  )
  if (after !== before) {
    writeFileSync(path, after)
    console.log(`${path}: added WITHOUT ROWID`)
  }
}

const snapshots = readdirSync('drizzle/meta').filter((file) => file.endsWith('_snapshot.json'))
for (const name of snapshots.sort().slice(0, -1)) rmSync(`drizzle/meta/${name}`)
