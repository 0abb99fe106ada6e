/*
 * npm run stores [-- --projects | add | close N | open N] [--remote]: the stores of this checkout's local server, or of its
 * deployment. A store is a database for projects, with its own queue: docs/operate/operations.md, "Stores".
 */
import { misused, readFlags } from './lib/flags.ts'
import { addStore } from './lib/stores/add.ts'
import { closeStore } from './lib/stores/close.ts'
import { localStores, remoteStores } from './lib/stores/deployment.ts'
import { listStores } from './lib/stores/list.ts'
import { listProjects } from './lib/stores/projects.ts'
import { run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run stores [-- --projects | add | close N | open N] [--remote] [--jurisdiction eu|fedramp|us]',
  about: `Lists the stores: databases for projects, each with its own queue.
  add       adds a store, or finishes one that failed halfway
  close N   new projects go to other stores; those that are there stay
  open N    the store takes new projects again`,
  flags: {
    remote: { type: 'boolean', help: 'the deployment, instead of the local server' },
    projects: {
      type: 'boolean',
      help: 'lists the largest projects of each store, with their events, billing objects and consumers',
    },
    jurisdiction: {
      type: 'string',
      takes: 'eu|fedramp|us',
      help: 'with add --remote: where the database is kept, if Cloudflare does not report it for the first store',
    },
  },
  positionals: true,
  notes: 'STORES=N in the environment adds local stores, as it does for npm start.',
} as const

await run(async () => {
  const { values, positionals } = readFlags(COMMAND)
  const remote = values.remote === true
  const [verb, number, ...more] = positionals
  if (more.length > 0) misused(COMMAND, `${JSON.stringify(more[0])} is an unexpected argument`)
  if (values.projects === true) {
    if (verb !== undefined) misused(COMMAND, `--projects cannot be combined with ${verb}`)
    return listProjects(remote ? remoteStores() : await localStores())
  }
  if (verb === undefined) return listStores(remote ? remoteStores() : await localStores())
  if (verb === 'add' && number === undefined) return addStore(remote, values.jurisdiction)
  if (verb !== 'close' && verb !== 'open') misused(COMMAND, `${JSON.stringify(positionals.join(' '))} is not a command`)
  if (number === undefined || !/^\d{1,5}$/.test(number)) misused(COMMAND, `${verb} needs the number of a store`)
  await closeStore(remote ? remoteStores() : await localStores(), Number(number), verb === 'close')
})
