/*
 * npm run try:mirror: plays a random history against a server of its own, beside npm run mirror, and kills both on the way. At the end, the
 * tables of the mirror must equal the lists of the API, and readers must never have seen a table empty.
 */
import { join } from 'node:path'
import { readFlags } from '../../scripts/lib/flags.ts'
import type { Server } from './server.ts'
import { temporaryState } from './temporary-state.ts'

const { values } = readFlags({
  usage: 'npm run try:mirror [-- OPTIONS]',
  about: 'Plays a history beside a mirror, kills the mirror and the server, and compares the tables with the API.',
  flags: {
    changes: { type: 'string', takes: 'N', help: 'changes in the history, at least', default: '20000' },
    kills: { type: 'string', takes: 'N', help: 'kills of the mirror and the server, at least', default: '50' },
    expired: { type: 'string', takes: 'N', help: 'how often the position of the mirror expires', default: '3' },
    seed: { type: 'string', takes: 'N', help: 'makes the same acts again', default: String(Date.now() % 1e6) },
    to: {
      type: 'string',
      takes: 'DATABASE',
      help: 'an empty postgres:// database, for another mirror beside that in an SQLite file',
    },
  },
})
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { folder, remove } = temporaryState('mirror')
const { freePort, killServer, portFree, startServer } = await import('./server.ts')
const { signIn } = await import('../../scripts/lib/sign-in.ts')
const { newWorld } = await import('./mirror/world.ts')
const { play } = await import('./mirror/story.ts')

const LIMITS = { LOCAL_RATE_LIMIT: '100000000' }
const began = Date.now()
const port = await freePort()
const url = `http://localhost:${port}`
let server: Server | null = null
try {
  console.log(`Seed ${values.seed}. Starting a server …`)
  server = await startServer(port, LIMITS)
  const { token } = await signIn(url, 'mirror@example.com')
  const done = await play({
    world: await newWorld(url, token),
    to: [join(folder, 'mirror.sqlite'), ...(values.to ? [values.to] : [])],
    seed: Number(values.seed),
    changes: Number(values.changes),
    kills: Number(values.kills),
    expired: Number(values.expired),
    writers: 16,
    pause: 0,
    life: 8000,
    restartServer: async () => {
      killServer(server)
      await portFree(port)
      server = await startServer(port, LIMITS)
    },
    say: console.log,
  })
  const { changes, kills, servers, expired, rows, reads } = done
  const minutes = ((Date.now() - began) / 60_000).toFixed(1)
  console.log(`\nThe mirror equals the lists: ${rows} rows after ${changes} changes, ${kills} kills (${servers} of the server) and
${expired} expired positions. ${reads} reads of its tables saw none empty. It took ${minutes} minutes.`)
} finally {
  killServer(server)
  remove()
}
process.exit(0)
