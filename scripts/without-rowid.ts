// Adds WITHOUT ROWID to the CREATE TABLE statements of generated migrations: drizzle-kit cannot emit it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

for (const name of readdirSync('drizzle').filter((file) => file.endsWith('.sql'))) {
  const path = `drizzle/${name}`
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(/(CREATE TABLE [^;]*\n\));/g, '$1 WITHOUT ROWID;')
  if (after !== before) {
    writeFileSync(path, after)
    console.log(`${path}: tables made WITHOUT ROWID`)
  }
}
