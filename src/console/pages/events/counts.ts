import { batch, type Db } from '../../../db/client'
import { countByStatus } from '../../../inbox/events/counts'
import { MAX_OPEN_COUNTED } from '../../../inbox/events/limits'
import { isFinal, type Status } from '../../../inbox/lifecycle'

/** How many events have each status, as text: `1,204`, or `900+` for open events where there are too many to count. */
export type Counts = (status: Status) => string

/** Reads the counts, in one round trip. */
export async function readCounts(db: Db, project: string): Promise<Counts> {
  const { finals, open } = await batch(db, countByStatus(db, project))
  const counts = new Map([...finals, ...open].map(({ status, n }) => [status, n]))
  const more = open.reduce((sum, { n }) => sum + n, 0) >= MAX_OPEN_COUNTED ? '+' : ''
  return (status) => (counts.get(status) ?? 0).toLocaleString('en') + (isFinal(status) ? '' : more)
}
