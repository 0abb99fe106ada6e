import type { SQL } from 'drizzle-orm'
import type { Runtime } from '../env'

/** A row with something that is sealed under an older encryption key. `reseal` throws if no key opens it. */
export type SealedRow = { id: string; reseal: () => Promise<void> }

/** A column with sealed secrets: the cron seals them anew when there is a newer encryption key, and health counts them until then. */
export type SealedColumn = {
  /** For the log. */
  name: string
  /** Begins to walk the rows with something under another key than this one. The result reads the next so many of them. */
  walk: (rt: Runtime, key: number) => (most: number) => Promise<SealedRow[]>
  /** How many secrets of a project are under another key than this one, as an expression. */
  count: (projectId: string, key: number) => SQL<number>
}
