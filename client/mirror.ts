/*
 * node mirror.ts --url ORIGIN --project ID --token KEY --to postgres://… | FILE: copies a project's subscriptions, invoices, payment
 * methods, customers, consumers and entitlements into tables of yours, and follows the feed of changes. It can be stopped anywhere,
 * and goes on where it was: the position is in the same transaction as the rows.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { newApi, Refused } from './mirror/api.ts'
import { type Database, isPostgres, openDatabase } from './mirror/database.ts'
import { runMirror } from './mirror/run.ts'

const USAGE = `Usage: npm run mirror -- --url ORIGIN --project ID --to postgres://… | FILE [--token KEY] [--once]
In the client package: node mirror.ts, with the same options.

Copies a project's consumers, subscriptions, invoices, payment methods, customers and entitlements into tables, and keeps them up to date.
Stop it at any time (Ctrl+C), and start it again to continue.

  --url ORIGIN    the service, such as https://api.example.com
  --project ID    the project
  --token KEY     an API key with the scopes billing:read, consumers:read, entitlements:read and projects:read (default: $API_KEY)
  --to DATABASE   a postgres:// URL, or the name of an SQLite file
  --once          catch up, then exit. It gives up if the service does not answer for five minutes`

/** How long (ms) --once waits for a service that does not answer. */
const PATIENCE_ONCE = 5 * 60_000
/** The longest wait (ms) before the database is opened again. */
const LONGEST_WAIT = 30_000

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

try {
  await main()
} catch (error) {
  if (stop.signal.aborted) console.log('Stopped. Start it again to continue.')
  else {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`)
    if (error instanceof Refused && error.code === 'insufficient_scope') console.error(`\n${USAGE}`)
    process.exitCode = 1
  }
}

async function main(): Promise<void> {
  const { url, project, token, to, once } = readOptions()
  const patience = once ? PATIENCE_ONCE : Number.POSITIVE_INFINITY
  const api = newApi({ url, project, token, signal: stop.signal, say: console.log, patience })
  // The first time, an error is more likely a mistake in the URL than something that passes.
  let database: Database | null = await openDatabase(to)
  const { isPassing } = database
  let failures = 0
  const went = () => {
    failures = 0
  }
  try {
    for (;;) {
      try {
        database ??= await openDatabase(to)
        return await runMirror({ api, database, project, once, signal: stop.signal, say: console.log, went })
      } catch (error) {
        if (stop.signal.aborted || !isPassing(error)) throw error
        await database?.close().catch(() => {}) // it may be closed already
        database = null
        const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** failures)
        failures += 1
        console.log(`The database fails (${(error as Error).message}). Trying again in ${wait / 1000} s.`)
        await sleep(wait, undefined, { signal: stop.signal })
      }
    }
  } finally {
    await database?.close()
  }
}

function readOptions() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = { url: text, project: text, token: text, to: text, once: flag, help: flag }
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
  try {
    values = parseArgs({ options }).values
  } catch (error) {
    return misused((error as Error).message)
  }
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const { url, project, to, token = process.env.API_KEY, once } = values
  if (url === undefined || !URL.canParse(url)) return misused('--url takes the origin of the service')
  if (project === undefined) return misused('--project is missing')
  if (to === undefined) return misused('--to is missing')
  if (to.includes('://') && !isPostgres(to)) return misused('--to takes a postgres:// URL, or the name of a file')
  if (!token) return misused('--token is missing')
  return { url: new URL(url).origin, project, token, to, once }
}

function misused(what: string): never {
  console.error(`${what}.\n\n${USAGE}`)
  process.exit(1)
}
