import { and, type Column, eq, type SQL } from 'drizzle-orm'

/** What names a connection in the rows that belong to it. */
export type ConnectionPlace = { project_id: string; connection_id: string }

/** The condition on the rows of a connection, in any table that has them by project and connection. */
export function ofConnection(
  table: Record<keyof ConnectionPlace, Column>,
  { project_id, connection_id }: ConnectionPlace,
): SQL {
  return and(eq(table.project_id, project_id), eq(table.connection_id, connection_id)) as SQL
}
