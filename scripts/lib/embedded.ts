import { join } from 'node:path'
import { asked, localText } from './local-config.ts'
import { STATE_DIR } from './paths.ts'
import { storesIn } from './stores-config.ts'
import { sleep } from './terminal.ts'
import { COMPATIBILITY_DATE } from './worker-bundle.ts'

/** How long a script waits for an embedded database that the local server is writing to (ms). */
const LOCKED_AT_MOST = 30_000

/**
 * Opens the embedded databases of stores, beside a running server or not, and closes them when `use` is done. `wrangler d1 execute
 * --local` opens them in the same way, but takes three times as long, because it loads all of wrangler. `use` is run again
 * while another process has a database locked. Each of its batches is one transaction, so a batch that was refused has done nothing.
 *
 * @throws if a store is not in the local configuration
 */
export async function withEmbedded<T>(
  stores: readonly number[],
  use: (of: (store: number) => D1Database) => Promise<T>,
): Promise<T> {
  // Imported only here: most scripts do not need it, and loading it takes half a second.
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare')
  const known = storesIn(localText({ stores: asked.stores }))
  const ids = stores.map((store) => {
    const found = known.find(({ number }) => number === store)
    if (!found) throw new Error(`Store ${store} is not in the local configuration.`)
    return [String(store), found.id] as const
  })
  const told: string[] = []
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.NONE),
      handleStructuredLogs: ({ message }: { message: string }) => void told.push(message),
      modules: true,
      script: '',
      compatibilityDate: COMPATIBILITY_DATE,
      resourcePersistencePath: join(STATE_DIR, 'v3'), // wrangler's folder below the one that its commands are given
      d1Databases: Object.fromEntries(ids),
    }),
  )
  try {
    const opened = new Map<number, D1Database>()
    for (const store of stores) opened.set(store, (await miniflare.getD1Database(String(store))) as never)
    return await whenUnlocked(told, () => use((store) => opened.get(store) as D1Database))
  } finally {
    await miniflare.dispose()
  }
}

/** @param told what the runtime has logged: some errors say only there that the database was locked */
async function whenUnlocked<T>(told: string[], command: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + LOCKED_AT_MOST; ; told.length = 0) {
    try {
      return await command()
    } catch (error) {
      await sleep(250) // by then, the runtime has logged it too
      const said = [error instanceof Error ? error.message : String(error), ...told].join('\n')
      if (Date.now() > until || !said.includes('SQLITE_BUSY')) throw new Error(said, { cause: error })
    }
  }
}
