import { execute } from '../d1.ts'
import { printTable } from '../terminal.ts'
import type { Deployment } from './deployment.ts'

/** How many projects of a store are listed. */
const MOST = 20
const HEADINGS = ['store', 'project', 'name', 'bodies', 'events', 'open', 'billing objects', 'consumers']
const NUMBERS = ['events', 'open', 'objects', 'consumers'] as const

/**
 * The projects of a store whose bodies take the most room, as one query. It reads a row for each body, and one for each event, object and
 * consumer of the projects that it lists.
 */
const LOOK = `WITH sizes AS (
  SELECT project_id, sum(coalesce(length(body), 0)) AS bytes FROM packed_bodies GROUP BY project_id ORDER BY bytes DESC LIMIT ${MOST}
)
SELECT project_id, bytes,
  (SELECT count(*) FROM events e WHERE e.project_id = s.project_id) AS events,
  (SELECT count(*) FROM events e WHERE e.project_id = s.project_id AND e.due_at IS NOT NULL) AS open,
  (SELECT count(*) FROM billing_objects o WHERE o.project_id = s.project_id) AS objects,
  (SELECT count(*) FROM consumers c WHERE c.project_id = s.project_id) AS consumers
FROM sizes s ORDER BY bytes DESC`

/** Prints the largest projects of each store. A store that does not answer ends the command with its error. */
export async function listProjects({ target, bound }: Deployment): Promise<void> {
  const [named = []] = await execute(target, 'SELECT id, name FROM projects')
  const names = new Map(named.map(({ id, name }) => [id, String(name)]))
  const lines: string[][] = []
  for (const store of bound) {
    const [rows = []] = await execute(target, LOOK, store)
    for (const row of rows) {
      const size = `${(Number(row.bytes) / 1e6).toFixed(1)} MB`
      const counts = NUMBERS.map((name) => Number(row[name]).toLocaleString('en'))
      lines.push([String(store), String(row.project_id), names.get(row.project_id) ?? 'deleted', size, ...counts])
    }
  }
  printTable(HEADINGS, lines)
  console.log(`\nUp to ${MOST} projects of each store, by the stored size of their bodies. Most bodies are compressed.`)
}
