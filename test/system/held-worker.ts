import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { Database } from '../../bench/seed.ts'
import { bundle, COMPATIBILITY_DATE, migrate, PLATFORM } from '../../bench/worker.ts'
import { must } from '../../scripts/lib/api.ts'
import type { Inbox } from '../../scripts/lib/deliver.ts'
import { localInboxes } from '../../scripts/lib/inbox.ts'
import { rememberCode, SIGN_IN_LINK, startSignInLog } from '../../scripts/lib/server-log.ts'
import { sleep } from '../../scripts/lib/terminal.ts'

/**
 * Stands before the Worker in the same isolate. It holds the database's answers and stops the clock, so that nothing
 * depends on how fast the machine is, and aborts requests that are named in X-Abort. (Behind wrangler's own proxy a caller
 * that hangs up is not noticed; here callers are connected to workerd itself.)
 */
const ENTRY = `
import worker from './index.js'
const held = []
const aborted = new Set()
let holding = false
let waiting = 0 // deliveries that have begun to wait for a trip
let ahead = 0 // of the real clock; it never goes back
let stopped = null // where the clock stands
const { now } = Date
Date.now = () => stopped ?? now() + ahead
globalThis.setTimeout = (work, ms = 0) => {
  if (ms === 1500) waiting += 1
  const due = Date.now() + ms
  const timer = setInterval(() => {
    if (Date.now() < due) return
    clearInterval(timer)
    work()
  }, 5)
  return timer
}
const holdable = (real) => ({
  prepare: (query) => real.prepare(query),
  async batch(statements) {
    const held_back = holding // not what a test before has left behind
    const results = await real.batch(statements) // it has happened; only its answer is held
    if (held_back) await new Promise((letGo) => held.push(letGo))
    return results
  },
})
const commands = {
  hold: () => [holding, waiting, stopped] = [true, 0, Date.now()],
  tick: (ms) => stopped += Number(ms),
  release: (n) => held.splice(0, Number(n)).forEach((letGo) => letGo()),
  abort: (name) => aborted.add(name),
  pass: () => holding = false,
  go: () => [ahead, stopped] = [stopped - now(), null],
}
let own
export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/test') {
      for (const [name, value] of searchParams) commands[name](value)
      return Response.json({ held: held.length, waiting })
    }
    const name = request.headers.get('X-Abort')
    if (name) setInterval(() => aborted.has(name) && ctx.abort(new Error('aborted by the test')), 5)
    own ??= { ...env, DB: holdable(env.DB) }
    return worker.fetch(request, own, ctx)
  },
}
`

/** Time to stop in (ms). */
const STOP_WITHIN = 5000

/** What the database holds back, and how many deliveries have begun to wait since. */
export type Held = { held: number; waiting: number }

/** The Worker with a hold on its database, in a workerd that callers reach without a proxy. */
export async function startHeldWorker(folder: string) {
  startSignInLog()
  const script = await bundle()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.NONE),
      resourcePersistencePath: folder,
      handleStructuredLogs: ({ message }) => {
        const [, challenge = '', code = ''] = SIGN_IN_LINK.exec(message) ?? []
        if (challenge) rememberCode(challenge, code)
      },
      workers: [
        {
          ...PLATFORM,
          bindings: { ...PLATFORM.bindings, SIGN_IN_DELIVERY: 'log', SIGN_UP: 'open' },
          name: 'own',
          compatibilityDate: COMPATIBILITY_DATE,
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
          modules: [
            { type: 'ESModule', path: 'entry.js', contents: ENTRY },
            { type: 'ESModule', path: 'index.js', contents: script },
          ],
          d1Databases: { DB: 'own' },
          kvNamespaces: ['KV'],
          queueProducers: { EVENTS: 'own' },
        },
      ],
    }),
  )
  await miniflare.ready
  await migrate((await miniflare.getD1Database('DB', 'own')) as unknown as Database)
  const { origin } = await miniflare.unsafeGetDirectURL('own')
  const [inbox] = await localInboxes(origin, 'stripe', 1)
  if (!inbox) throw new Error('no connection')
  // With requests that are still held, Miniflare has been seen to wait for ever. What is left ends with this process.
  return { inbox, stop: () => Promise.race([miniflare.dispose(), sleep(STOP_WITHIN)]) }
}

/**
 * Tells the module before the Worker what to do: `hold` the database's answers and stop the clock, move it by `tick`
 * milliseconds, `release` so many answers, `abort` the request of this name, let answers `pass` again, or let the clock `go`.
 */
export function tell({ url }: Inbox, commands: Record<string, string | number> = {}): Promise<Held> {
  const query = new URLSearchParams(Object.entries(commands).map(([name, value]) => [name, String(value)]))
  return must<Held>(`${url}/test?${query}`)
}
