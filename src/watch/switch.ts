import { and, eq, ne, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes, changesEpoch } from '../changes/schema'
import { type Db, type Queries, rawWrite } from '../db/client'
import { bare, excluded } from '../db/sql'
import { CLOCK } from '../entitlements/read'
import { type Walk, watchers } from '../followers/schema'
import { projects } from '../tenancy/schema'

const c = alias(changes, 'c')
const p = alias(projects, 'p')

/** The walk of a watcher that is off. */
const NO_WALK: Walk = { at: '', causes: [] }

/**
 * Statements that switch the watcher of a project on or off, for the batch that changes its settings. Where the settings were not
 * changed, or the watcher is as it should be, they write nothing.
 *
 * @param watch what the settings are to say; undefined: they do not say it
 */
export function watcherSwitched(db: Db, projectId: string, watch: boolean | undefined): Queries {
  if (watch === undefined) return {}
  const says = sql`${p.settings} ->> 'watch_entitlements'`
  if (!watch) return { watcher: switchedOff(db, projectId, says) }
  const head = sql`coalesce((SELECT max(${c.seq}) FROM ${changes} ${c} WHERE ${c.project_id} = ${projectId}), 0)`
  const epoch = sql`(SELECT ${changesEpoch.epoch} FROM ${changesEpoch})`
  const { project_id, state, position, version, walk, lease_token, lease_until, woken_at } = watchers
  const columns = bare(project_id, state, position, watchers.epoch, version, walk)
  // It begins with what is known of the feed at the start. The clock as the first version: a project that was purged has none any more.
  const row = sql`SELECT ${p.id}, 'starting', ${head}, ${epoch}, ${CLOCK}, json_object('at', '', 'causes', json_array(${START}))`
  return {
    watcher: rawWrite(
      db,
      sql`INSERT INTO ${watchers} (${columns}) ${row} FROM ${projects} ${p} WHERE ${p.id} = ${projectId} AND ${says}
        ON CONFLICT DO UPDATE SET ${bare(state)} = 'starting', ${bare(position)} = ${excluded(position)},
          ${bare(watchers.epoch)} = ${excluded(watchers.epoch)}, ${bare(version)} = ${version} + 1, ${bare(walk)} = ${excluded(walk)},
          ${bare(lease_token)} = NULL, ${bare(lease_until)} = ${restLeft}, ${bare(woken_at)} = 0
        WHERE ${state} = 'off'`,
    ),
  }
}

/** The end of a lease that nobody has. Without it, switching the watcher off and on would end its rest. */
const restLeft = sql`iif(${watchers.lease_token} IS NULL, ${watchers.lease_until}, 0)`

/** The cause of the first walk. */
const START = sql`json('{"number":null,"type":"start","at":0,"from":"","round":false,"all":true}')`

function switchedOff(db: Db, projectId: string, says: SQL) {
  const isOn = sql`EXISTS (SELECT 1 FROM ${projects} ${p} WHERE ${p.id} = ${projectId} AND ${says})`
  return db
    .update(watchers)
    .set({
      state: 'off',
      version: sql`${watchers.version} + 1`,
      walk: NO_WALK,
      lease_token: null,
      lease_until: restLeft,
      woken_at: 0,
    })
    .where(and(eq(watchers.project_id, projectId), ne(watchers.state, 'off'), not(isOn)))
}
