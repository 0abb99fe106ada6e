import { and, type Column, eq, exists, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import { batch, type Db, run } from '../../db/client'
import { idFloor } from '../../lib/ids'
import { HOUR, MINUTE } from '../../lib/time'
import { projects } from '../../projects/schema'
import { attempts, events, minutes, payloads, refs, replays, totals } from '../schema'
import { chunkOf, eachProject } from './chunks'
import { CHUNK_ROWS } from './limits'
import { projectsWhere } from './store'

/** A project's id, or the column that holds it. */
type ProjectId = string | Column

/** Deletes the payloads of final events that arrived before `before` (ms). @returns how many */
export function purgePayloads(db: Db, before: number): Promise<number> {
  const isOld = (project: ProjectId) => and(eq(payloads.project_id, project), lt(payloads.id, idFloor('pay', before)))
  const ids = () => db.select({ id: payloads.id }).from(payloads)
  const concerned = projectsWhere(db, exists(ids().where(isOld(projects.id))))
  return eachProject(db, concerned, async (project) => {
    const needed = sql`(SELECT ${events.payload_id} FROM ${events} INDEXED BY events_open
      WHERE ${events.project_id} = ${project} AND ${events.due_at} IS NOT NULL)`
    const chunk = ids()
      .where(and(isOld(project), sql`${payloads.id} NOT IN ${needed}`))
      .limit(CHUNK_ROWS)
    const gone = db
      .delete(payloads)
      .where(and(eq(payloads.project_id, project), inArray(payloads.id, chunk)))
      .returning({ id: payloads.id })
    return chunkOf(await run(db, gone))
  })
}

/**
 * Deletes final events that arrived before the hour of `until` (ms), with everything that belongs to them. Whole hours,
 * because old rollups are by the hour: an event and its share of the rollup go together.
 *
 * @returns how many events
 */
export async function purgeRecords(db: Db, until: number): Promise<number> {
  const before = Math.floor(until / HOUR) * HOUR
  const gone = await purgeEvents(db, before)
  await purgeReplaysAndRollups(db, before)
  return gone
}

function purgeEvents(db: Db, before: number): Promise<number> {
  const isOld = (project: ProjectId) =>
    and(eq(events.project_id, project), lt(events.id, idFloor('evt', before)), isNull(events.due_at))
  const ids = () => db.select({ id: events.id }).from(events)
  const concerned = projectsWhere(db, exists(ids().where(isOld(projects.id))))
  return eachProject(db, concerned, async (project) => {
    const chunk = ids().where(isOld(project)).orderBy(events.id).limit(CHUNK_ROWS)
    const ofChunk = and(eq(events.project_id, project), inArray(events.id, chunk))
    const chunkRefs = sql`(SELECT r.value, ${events.id} FROM ${events} CROSS JOIN json_each(${events.summary}, '$.refs') r
      WHERE ${ofChunk})`
    const { gone } = await batch(db, {
      refs: db
        .delete(refs)
        .where(and(eq(refs.project_id, project), sql`(${refs.ref}, ${refs.event_id}) IN ${chunkRefs}`)),
      attempts: db.delete(attempts).where(inArray(attempts.event_id, chunk)),
      totals: db
        .update(totals)
        .set({ n: sql`${totals.n} - ${db.$count(events, and(ofChunk, eq(events.status, totals.status)))}` })
        .where(eq(totals.project_id, project)),
      gone: db.delete(events).where(ofChunk).returning({ id: events.id }),
    })
    return chunkOf(gone)
  })
}

function purgeReplaysAndRollups(db: Db, before: number): Promise<number> {
  const isOldReplay = (project: ProjectId) =>
    and(eq(replays.project_id, project), lt(replays.id, idFloor('rpl', before)))
  const isOldMinute = (project: ProjectId) => and(eq(minutes.project_id, project), lt(minutes.minute, before / MINUTE))
  const hasReplay = exists(db.select({ id: replays.id }).from(replays).where(isOldReplay(projects.id)))
  const hasMinute = exists(db.select({ minute: minutes.minute }).from(minutes).where(isOldMinute(projects.id)))
  const concerned = projectsWhere(db, or(hasReplay, hasMinute))
  return eachProject(db, concerned, async (project) => {
    const chunk = db
      .select({ minute: minutes.minute, connection_id: minutes.connection_id })
      .from(minutes)
      .where(isOldMinute(project))
      .limit(CHUNK_ROWS)
    const { gone } = await batch(db, {
      replays: db.delete(replays).where(isOldReplay(project)),
      gone: db
        .delete(minutes)
        .where(and(eq(minutes.project_id, project), sql`(${minutes.minute}, ${minutes.connection_id}) IN ${chunk}`))
        .returning({ minute: minutes.minute }),
    })
    return chunkOf(gone)
  })
}
