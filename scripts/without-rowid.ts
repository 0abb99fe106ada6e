// Adds WITHOUT ROWID to the CREATE TABLE statements of generated migrations, because drizzle-kit cannot. A table without a
// primary key keeps its rowid.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

for (const name of readdirSync('drizzle').filter((file) => file.endsWith('.sql'))) {
  const path = `drizzle/${name}`
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(/(CREATE TABLE [^;]*PRIMARY KEY[^;]*\n\));/g, '$1 WITHOUT ROWID;')
  if (after !== before) {
    writeFileSync(path, after)
    console.log(`${path}: added WITHOUT ROWID`)
  }
}
