import { idTime } from '../../../src/lib/ids.ts'
import { MAX_STORE_BYTES } from '../../../src/stores/limits.ts'
import { storeState } from '../../../src/stores/places.ts'
import type { StoreRow } from '../../../src/stores/store.ts'
import { execute } from '../d1.ts'
import { newestMigration } from '../migrations.ts'
import { printTable } from '../terminal.ts'
import { type Deployment, numbersIn, readDirectory } from './deployment.ts'

/** Stores that are asked at once. Each one is asked by a separate process. */
const AT_ONCE = 3
const HEADINGS = ['store', 'state', 'size', 'of limit', 'projects', 'oldest open event', 'last seen', 'schema']
const UNKNOWN = '–'

/**
 * The oldest open event of a store, of as many as /metrics looks at, and its newest migration. They are read in one
 * statement, which is one query for D1.
 */
const LOOK = `SELECT
  (SELECT min(id) FROM (SELECT id FROM events INDEXED BY events_open WHERE due_at IS NOT NULL LIMIT 10000)) AS oldest,
  (SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1) AS migration`

/** What a store itself returned: its oldest open event (an id), and its schema. Or why it returned nothing. */
type Said = { oldest: string | null; migration: string | null } | { failed: string }

/** Prints a table of all stores. The exit code is 1 if one that is bound does not answer. */
export async function listStores(deployment: Deployment): Promise<void> {
  const known = await readDirectory(deployment.target)
  const numbers = [...new Set([...deployment.bound, ...numbersIn(known)])].sort((a, b) => a - b)
  const said = await askAll(deployment)
  const rows = new Map(known.rows.map((row) => [row.number, row]))
  const now = Date.now()
  printTable(
    HEADINGS,
    numbers.map((number) => {
      const row = rows.get(number)
      const projects = String(known.projects.get(number) ?? 0)
      const own = said.get(number)
      const heard = own && !('failed' in own) ? own : undefined
      return [
        String(number),
        row ? storeState(row, deployment.bound, now) : UNKNOWN,
        ...sizesOf(row),
        projects,
        oldestOf(heard?.oldest, now),
        row && row.seen_at > 0 ? `${age(now - row.seen_at)} ago` : 'never',
        schemaOf(heard?.migration ?? row?.migration),
      ]
    }),
  )
  for (const line of remarks(numbers, deployment, rows, said)) console.log(`\n${line}`)
  if ([...said.values()].some((one) => 'failed' in one)) process.exitCode = 1
}

async function askAll({ target, bound }: Deployment): Promise<Map<number, Said>> {
  const said = new Map<number, Said>()
  const left = [...bound]
  const lane = async () => {
    for (let store = left.shift(); store !== undefined; store = left.shift()) {
      const asked = execute(target, LOOK, store).then(([rows]) => rows?.[0] as Said)
      said.set(store, await asked.catch((error: Error) => ({ failed: error.message })))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return said
}

/** Remarks for which the table has no room. */
function remarks(
  numbers: readonly number[],
  { bound }: Deployment,
  rows: ReadonlyMap<number, StoreRow>,
  said: ReadonlyMap<number, Said>,
): string[] {
  return numbers.flatMap((number) => {
    const own = said.get(number)
    const row = rows.get(number)
    if (own && 'failed' in own) return [`Store ${number} does not answer:\n${own.failed}`]
    if (!bound.includes(number)) return [`Store ${number} is in the directory, but is not bound here.`]
    if (row === undefined || (row.seen_at === 0 && row.error === null))
      return [`Store ${number} has not been seen by the cron: it is not deployed yet, or the cron is not running.`]
    return row.error === null ? [] : [`Store ${number} failed when the cron last visited it: ${row.error}`]
  })
}

function sizesOf(row: StoreRow | undefined): [size: string, share: string] {
  if (row?.size_bytes == null) return [UNKNOWN, UNKNOWN]
  return [`${(row.size_bytes / 1e6).toFixed(1)} MB`, `${((100 * row.size_bytes) / MAX_STORE_BYTES).toFixed(1)} %`]
}

/** Undefined: not known. Null: no event is open. */
function oldestOf(id: string | null | undefined, now: number): string {
  if (id === undefined) return UNKNOWN
  return id === null ? 'none' : age(now - idTime(id))
}

function schemaOf(migration: string | null | undefined): string {
  if (migration == null) return UNKNOWN
  const name = migration.replace('.sql', '')
  return migration === newestMigration() ? name : `${name} (this checkout: ${newestMigration().replace('.sql', '')})`
}

function age(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 120) return `${s} s`
  if (s < 7200) return `${Math.round(s / 60)} min`
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`
}
