import { sql } from 'drizzle-orm'
import { isExpiringNoMore, isExposedNoMore, tellExpiring } from '../api-keys/expiring'
import { isTokenNoMore } from '../devices/exposed'
import { isDisabledNoMore, isUnwellNoMore } from '../endpoints/tell'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { isFormatFine } from '../inbox/formats/look'
import { isMissingNoMore } from '../inbox/renewals/missing'
import { isSilentNoMore } from '../inbox/silence/watch'
import { isDegradedNoMore, isFailingNoMore } from '../inbox/tell'
import { closeOver, type Over } from '../notices/close'
import { EXPOSED_OPEN_FOR } from '../notices/limits'
import { notices } from '../notices/schema'
import { sendDueMails } from '../notices/send'
import type { PassStep } from '../tenancy/pass'

/** One step of an hour's look at the notices of a store: first which keys expire, then which matters are over. */
export async function lookAtNotices({ db, now }: Runtime, after: string): Promise<PassStep> {
  if (after === '') await tellExpiring(db, now)
  return closeOver(db, overAt(now), after, now)
}

function overAt(now: number): Over {
  const ended = sql`${notices.facts} ->> '$.ended'`
  const isKey = sql`${notices.facts} ->> '$.object' = 'api_key'`
  return {
    key_exposed: sql`CASE WHEN ${ended} THEN ${notices.opened_at} <= ${now - EXPOSED_OPEN_FOR}
      WHEN ${isKey} THEN ${isExposedNoMore(now)} ELSE ${isTokenNoMore(now)} END`,
    key_expiring: isExpiringNoMore(now),
    connection_degraded: isDegradedNoMore(now),
    events_failing: isFailingNoMore(now),
    connection_silent: isSilentNoMore(notices),
    renewals_missing: isMissingNoMore(notices),
    format_changed: isFormatFine,
    endpoint_failing: isUnwellNoMore,
    endpoint_disabling: isUnwellNoMore,
    endpoint_disabled: isDisabledNoMore,
  }
}

/** Sends the emails of these projects, one after the other. One that fails does not keep the others from theirs. */
export async function mailNotices(rt: Runtime, due: readonly { project_id: string }[]): Promise<void> {
  for (const { project_id } of due) {
    await sendDueMails(rt, project_id).catch((error) =>
      writeLog('error', 'notices_not_mailed', { project_id, error: String(error) }),
    )
  }
}
