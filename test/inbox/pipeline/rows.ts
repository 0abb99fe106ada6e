import { bound } from '../../harness'

export async function rows<T = any>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (
    await bound.DB.prepare(sql)
      .bind(...values)
      .all<T>()
  ).results
}

/** The one event of a project, as it is stored. */
export async function stored(project: string): Promise<any[]> {
  return rows('SELECT * FROM events WHERE project_id = ? ORDER BY id', project)
}
