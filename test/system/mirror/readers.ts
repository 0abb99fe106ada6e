import { type Database, openDatabase } from '../../../client/mirror/database.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'

/** The tables of which the history removes few rows. An erasure takes a consumer with all that were merged into it, and their customers. */
const KEPT = ['subscriptions', 'invoices'] as const

/**
 * Reads the tables of a mirror all the time, from when each has rows. In each of them, more than half of the rows that it has had
 * must be there, whatever the mirror does.
 */
export async function watchTables(to: string) {
  const database: Database = await openDatabase(to)
  const most = new Map<string, number>()
  const broken: string[] = []
  let reads = 0
  let stopped = false
  const reading = (async () => {
    while (!stopped) {
      await database.transaction(async (query) => {
        for (const table of KEPT) {
          const [row] = await query(`SELECT count(*) AS n FROM ${table}`)
          const n = Number(row?.n)
          const before = most.get(table) ?? 0
          if (n < before / 2) broken.push(`${table} had ${before} rows, and then ${n}`)
          most.set(table, Math.max(n, before))
        }
      })
      reads += 1
      await sleep(20)
    }
  })()
  return {
    async stop() {
      stopped = true
      await reading
      await database.close()
      return { reads, broken }
    },
  }
}
