import { execute } from '../../../scripts/lib/d1.ts'
import { asked, localText } from '../../../scripts/lib/local-config.ts'
import { boundStores } from '../../../scripts/lib/stores-config.ts'
import { storeOfProject } from '../../../src/lib/ids.ts'
import type { Balance } from './check.ts'
import type { Tenant } from './ledger.ts'
import type { Run } from './load.ts'

/** What a store's database has of one project. */
type Counted = { project_id: string; events: number; different: number; open: number; payloads: number }

const STORES = boundStores(localText(asked))
const COUNT = `SELECT project_id, count(*) AS events, count(DISTINCT connection_id || ' ' || vendor_event_id) AS different,
  count(due_at) AS open, count(DISTINCT payload_id) AS payloads
FROM events GROUP BY project_id`

/** The store of a project that the soak created. Projects do not move. */
export function storeOf(project: string): number {
  const store = storeOfProject(project)
  if (store === null) throw new Error(`${project} is not the id of a project`)
  return store
}

/** Closes every store but one to new projects; null opens all. */
export async function closeOthers(open: number | null): Promise<void> {
  const closed = open === null ? '0' : `number <> ${open}`
  await execute('local', `UPDATE stores SET closed = ${closed}`)
}

/**
 * Looks into the database of each store, without the API. It must have its own projects and no others, each event once,
 * no open event, and as many events as the API reported. Every difference is added to `run.broken`.
 *
 * @returns a row of a table for each store, and one for all of them together
 */
export async function checkStores(
  run: Run,
  tenants: readonly Tenant[],
  balances: readonly Balance[],
): Promise<string[][]> {
  const rows: number[][] = []
  for (const store of STORES) {
    const wrong = (what: string) => run.broken.push(`store ${store}: ${what}`)
    const [found = []] = (await execute('local', COUNT, store)) as Counted[][]
    const own = tenants.filter(({ project }) => storeOf(project) === store)
    for (const { name, project } of own) {
      const row = found.find(({ project_id }) => project_id === project)
      const recorded = balances.find(({ tenant }) => tenant === name)?.recorded
      if (!row) wrong(`it has nothing of ${name}`)
      else if (row.events !== recorded) wrong(`${name}: ${row.events} events instead of ${recorded}`)
      else if (row.different !== row.events) wrong(`${name}: ${row.events - row.different} events are there twice`)
      else if (row.open > 0) wrong(`${name}: ${row.open} events are open`)
    }
    const others = found.filter(({ project_id }) => own.every(({ project }) => project !== project_id))
    for (const { project_id } of others) wrong(`it has events of ${project_id}`)
    const sum = (of: (row: Counted) => number) => found.reduce((total, row) => total + of(row), 0)
    rows.push([
      own.length,
      sum(({ events }) => events),
      sum(({ different }) => different),
      sum(({ open }) => open),
      sum(({ payloads }) => payloads),
      others.length,
    ])
  }
  const all = (rows[0] ?? []).map((_, column) => rows.reduce((total, row) => total + (row[column] ?? 0), 0))
  const names = [...STORES.map(String), 'all']
  return [...rows, all].map((row, i) => [names[i] ?? '', ...row.map(String)])
}
