import { setTimeout as sleep } from 'node:timers/promises'
import { startOutside } from '../outside/server.ts'
import { temporaryState } from '../system/temporary-state.ts'

// All tests come from one address, and together they sign in more often than the ten times a minute that one address may.
const LIMITS = { LOCAL_RATE_LIMIT: '100000' }

/** Runs npm start on a free port with its own state, and stops it after the tests. */
export default async function setup(): Promise<() => Promise<void>> {
  // The tests read sign-in codes from there too, as the scripts do.
  const { remove } = temporaryState('e2e')
  const { freePort, killServer, startServer } = await import('../system/server.ts')
  const port = await freePort()
  process.env.CONSOLE_URL = `http://localhost:${port}`
  const outside = await startOutside()
  process.env.OUTSIDE_URL = outside.url
  const server = await startServer(port, { ...LIMITS, LOCAL_OUTSIDE: outside.url })
  return async () => {
    if (process.env.SERVER_LOG) process.stderr.write(server.said())
    killServer(server)
    outside.stop()
    await sleep(200)
    remove()
  }
}
