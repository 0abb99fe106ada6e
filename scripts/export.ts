/* npm run export -- PROJECT FOLDER [--remote]: writes the rows of one project to a folder, without secrets. */
import { resolve } from 'node:path'
import { storeOfProject } from '../src/lib/ids.ts'
import { databaseOf } from './lib/backup/databases.ts'
import { backUp, sum } from './lib/backup/folder.ts'
import { misused, readFlags } from './lib/flags.ts'
import { prepareLocal } from './lib/prepare.ts'
import { run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run export -- PROJECT FOLDER [--remote]',
  about:
    'Writes the rows of one project to a folder, without secrets: its events, billing state, consumers, catalog and audit log.',
  flags: { remote: { type: 'boolean', help: 'the deployment, instead of the local server' } },
  positionals: true,
  notes: 'To continue an export that was stopped, run it again with the same folder.',
} as const

await run(async () => {
  const { values, positionals } = readFlags(COMMAND)
  const [project, folder, ...more] = positionals
  if (project === undefined || folder === undefined || more.length > 0) misused(COMMAND, 'give a project and a folder')
  const home = storeOfProject(project)
  if (home === null) misused(COMMAND, `${project} is not the id of a project`)
  const remote = values.remote === true
  if (!remote) await prepareLocal()
  // Members, invitations, domains and single sign-on are in the directory, which is store 0.
  for (const store of new Set([home, 0])) {
    const path = resolve(folder, `store-${store}`)
    const { objects } = await backUp(databaseOf(store, remote), path, { store, project_id: project })
    console.log(`${sum(objects).toLocaleString('en')} rows in ${objects.length} objects: ${path}`)
  }
  process.exit(0)
})
