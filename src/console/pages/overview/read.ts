import { firstRevoked, type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { type BillingDay, readDays } from '../../../billing/days/store'
import { withToday } from '../../../billing/days/today'
import { listChanged, paidBy } from '../../../billing/invoices/paid'
import { batch } from '../../../db/client'
import { type ForAnswer, findForAnswer } from '../../../entitlements/first-answer'
import type { Runtime } from '../../../env'
import { assess, countsOf, healthQueries } from '../../../health/assess'
import { findingsOf } from '../../../health/findings'
import { type HealthRows, type HourRow, readHours } from '../../../health/read'
import { projectOf } from '../../../http/auth'
import { type CauseRow, listCauses } from '../../../inbox/failures/failures'
import { listMutes, type MuteRow } from '../../../inbox/mutes/mutes'
import { firstSubscription, listCountable } from '../../../inbox/renewals/countable'
import { DAY, HOUR } from '../../../lib/time'
import { chosenLivemode } from '../../mode'
import type { Visit } from '../../page'

/** The days of subscriptions that the overview reads: two times thirty, and today. */
const DAYS = 61
/**
 * The overview counts up to this many subscriptions itself, and adds up as many invoices. For larger projects, it shows the cron's last count of
 * subscriptions, and no amounts.
 */
const COUNTED_LIVE = { rows: 500, bytes: 4 * 1024 * 1024 }
/** The hours that the overview adds up. */
export const HOURS = 24

/** What the steps depend on: the live keys, revoked ones, the connections, the counts of events, the catalog and consumers, and what is wrong. */
export type Progress = Awaited<ReturnType<typeof progressOf>>
/** A connection, with what it received in the last hour. */
export type Connected = Progress['connections'][number]
/**
 * All that the overview shows. `hours`: what each of the last {@link HOURS} received; quiet hours are left out. `uncounted`: whether there are
 * subscriptions, and none of those that are shown is counted. `paid`: null if there are too many invoices.
 */
export type Overview = Progress & {
  hours: HourRow[]
  causes: CauseRow[]
  mutes: MuteRow[]
  days: BillingDay[]
  uncounted: boolean
  paid: ReturnType<typeof paidBy>
}

/** Reads what the steps show, in one round trip. */
export async function readSetup(c: Visit): Promise<Progress> {
  const rt = c.get('rt')
  return progressOf(rt, await batch(rt.db, queries(c)))
}

/** Reads what the overview shows, in one round trip. */
export async function readOverview(c: Visit): Promise<Overview> {
  const rt = c.get('rt')
  const until = Math.floor(rt.now / HOUR) + 1
  const project = projectOf(c.get('actor'))
  const mode = chosenLivemode(c)
  const hours = readHours(rt.db, project, { from: until - HOURS, to: until })
  const counted = readDays(rt.db, project, Math.floor(rt.now / DAY) - DAYS + 1, mode)
  const causes = listCauses(rt.db, project)
  const mutes = listMutes(rt.db, project, {}, rt.now)
  const subscriptions = listCountable(rt.db, project, COUNTED_LIVE)
  const first = firstSubscription(rt.db, project)
  const invoices = listChanged(rt.db, project, rt.now, COUNTED_LIVE)
  const found = await batch(rt.db, { ...queries(c), hours, counted, causes, mutes, subscriptions, first, invoices })
  const days = withToday(found.counted, found.subscriptions, { now: rt.now, mode })
  return {
    ...(await progressOf(rt, found)),
    hours: found.hours,
    days,
    uncounted: found.first.length > 0 && days.length === 0,
    paid: paidBy(found.invoices, rt.now, COUNTED_LIVE.rows, mode),
    causes: found.causes,
    mutes: found.mutes,
  }
}

function queries(c: Visit) {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const keys = listKeys(rt.db, { project_id: project, before: null, limit: MAX_LIVE_KEYS, now: rt.now })
  return {
    ...healthQueries(rt, project),
    keys,
    revoked: firstRevoked(rt.db, project),
    answer: findForAnswer(rt.db, project),
  }
}

async function progressOf(
  rt: Runtime,
  found: HealthRows & { keys: KeyRow[]; revoked: Pick<KeyRow, 'last_used_at'>[]; answer: ForAnswer[] },
) {
  const { connections, facts } = await assess(rt, found)
  const { keys, revoked } = found
  const answer = found.answer[0] as ForAnswer
  return { keys, revoked, connections, answer, facts, findings: findingsOf(facts), counts: countsOf(found) }
}

/** How many events the project has received. */
export function receivedIn({ counts }: Pick<Progress, 'counts'>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0)
}
