/*
 * npm run backup -- FOLDER [--remote] [--store N]: copies a store into a folder while it is in use. docs/operate/operations.md, "Backups".
 */
import { resolve } from 'node:path'
import { databaseOf } from './lib/backup/databases.ts'
import { backUp, sum } from './lib/backup/folder.ts'
import { misused, readFlags } from './lib/flags.ts'
import { prepareLocal } from './lib/prepare.ts'
import { run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run backup -- FOLDER [--remote] [--store N]',
  about:
    'Copies a store into a folder while it is in use. To continue a backup that was stopped, run it again with the same folder.',
  flags: {
    remote: { type: 'boolean', help: 'the deployment, instead of the local server' },
    store: { type: 'string', takes: 'N', help: 'the number of the store', default: '0' },
  },
  positionals: true,
  notes: 'A backup has secrets only as hashes, or encrypted with ENCRYPTION_KEY_n. Keep these keys too.',
} as const

await run(async () => {
  const { values, positionals } = readFlags(COMMAND)
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0) misused(COMMAND, 'give one folder')
  if (!/^\d{1,5}$/.test(values.store ?? '')) misused(COMMAND, '--store must be a number')
  const remote = values.remote === true
  if (!remote) await prepareLocal()
  const bound = databaseOf(Number(values.store), remote)
  const startedAt = Date.now()
  const { objects } = await backUp(bound, resolve(folder), { store: Number(values.store), project_id: null })
  const megabytes = objects.reduce((all, { bytes }) => all + bytes, 0) / 1e6
  console.log(`
${sum(objects).toLocaleString('en')} rows in ${objects.length} objects, ${megabytes.toFixed(1)} MB, in ${((Date.now() - startedAt) / 1000).toFixed(0)} s: ${resolve(folder)}
To restore it into an empty database: npm run restore -- ${folder}${remote ? ' --remote' : ''}`)
  process.exit(0)
})
