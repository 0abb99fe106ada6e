/*
 * npm run restore -- FOLDER [--remote] [--database NAME]: writes a backup into an empty database. docs/operate/operations.md, "Backups".
 */
import { resolve } from 'node:path'
import { emptyLocal, emptyRemote } from './lib/backup/databases.ts'
import { manifestIn, restore, sum, verified } from './lib/backup/folder.ts'
import { openDatabase } from './lib/backup/open.ts'
import { misused, readFlags } from './lib/flags.ts'
import { fail, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run restore -- FOLDER [--remote] [--database NAME]',
  about: `Writes a backup into an empty database that no Worker uses yet. Events that were worked on since the backup began will be
processed again. To continue a restore that was stopped, run it again.`,
  flags: {
    remote: { type: 'boolean', help: 'a database of the account, instead of a local one' },
    database: {
      type: 'string',
      takes: 'NAME',
      help: 'with --remote: the database, if wrangler.toml names another one',
    },
    check: { type: 'boolean', help: 'only check that each object is there and has not changed' },
  },
  positionals: true,
  notes: 'LOCAL_STATE_DIR=FOLDER restores into the database of another local server.',
} as const

await run(async () => {
  const { values, positionals } = readFlags(COMMAND)
  const [given, ...more] = positionals
  if (given === undefined || more.length > 0) misused(COMMAND, 'give one folder')
  const folder = resolve(given)
  const manifest = manifestIn(folder)
  const wrong = verified(folder, manifest)
  if (wrong.length > 0) {
    fail(
      `The backup in ${folder} cannot be restored: ${wrong.slice(0, 10).join(', ')}${wrong.length > 10 ? `, and ${wrong.length - 10} more` : ''}.`,
    )
  }
  console.log(
    `${sum(manifest.objects).toLocaleString('en')} rows in ${manifest.objects.length} objects, begun ${manifest.began}, as of migration ${manifest.migration}. Each object is as it was written.`,
  )
  if (values.check) return
  const { store } = manifest
  const bound = values.remote ? await emptyRemote(store, values.database ?? null) : await emptyLocal(store)
  const { open, missing } = await restore(await openDatabase(bound), folder, manifest)
  console.log(
    `\nRestored into ${bound.name}. ${open.toLocaleString('en')} events are open. Once a Worker uses this database, its cron has them processed within minutes.`,
  )
  for (const [table, rows] of Object.entries(missing)) {
    console.log(
      `${table}: ${rows} rows were left out. They contradict others, because they changed while the backup was made.`,
    )
  }
  process.exit(0)
})
