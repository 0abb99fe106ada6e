import { beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_KEPT, EVENTS_KEPT } from '../../src/accounts/limits'
import { type IdPrefix, idFloor } from '../../src/lib/ids'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { SESSION_MAX } from '../../src/sessions/limits'
import { DELETED_KEPT_FOR, TESTS_KEPT_FOR } from '../../src/sso/limits'
import { stopClock } from '../clock'
import { DIRECTORY, freshProject, STORE } from '../harness'
import { keepHouse } from '../inbox/pipeline'

/*
 * Housekeeping deletes what is a minute past its time, and leaves what is a minute inside it: a row of each for every purge
 * that has a time, all in one run. Retention of events and payloads is in retention.test.ts.
 */

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')
const RECORDS = 400 * DAY

type Row = Record<string, string | number | null>
type Purge = {
  table: string
  /** How long a row is kept (ms), from the time that {@link row} is given. */
  life: number
  database?: D1Database
  /** Its columns. `id` is unique among all rows. */
  row: (at: number, id: string, project: string) => Row
  /** The column that holds the id. */
  key?: string
}

/** An id made at a time, with the words at its end. */
const idAt = (prefix: IdPrefix, at: number, id: string) => idFloor(prefix, at).slice(0, -id.length) + id

const connection = (project_id: string, deleted_at: number): Row => ({
  project_id,
  audience: 'team',
  name: 'n',
  issuer: 'i',
  client_id: 'c',
  auth_method: 'none',
  settings: '{}',
  state: 'disabled',
  revision: 1,
  created_by: 'u',
  created_at: 1,
  deleted_at,
})
const grant = (at: number, id: string, project_id: string): Row => ({
  project_id,
  consumer_id: 'c',
  id: idAt('grt', at - DAY, id),
  feature: 'sso',
  effect: 'allow',
  actor: 'u',
})

const PURGES: Record<string, Purge> = {
  'a sign-in code': {
    table: 'sign_in_codes',
    life: DAY,
    row: (at, id) => ({ id: idAt('chl', at, id), email: id, code_hash: 'h', created_at: at, expires_at: at }),
  },
  'a session': {
    table: 'sessions',
    life: SESSION_MAX + DAY,
    row: (at, id) => ({
      id: idAt('ses', at, id),
      user_id: id,
      hash: id,
      created_at: at,
      expires_at: at,
      last_used_at: at,
    }),
  },
  'an entry about an account': {
    table: 'account_events',
    life: EVENTS_KEPT,
    row: (at, id) => ({ user_id: 'u', id, type: 'sign_in', at }),
  },
  'a browser of an account': {
    table: 'account_browsers',
    life: BROWSER_KEPT,
    row: (seen_at, id) => ({ user_id: 'u', browser: id, seen_at }),
    key: 'browser',
  },
  'a spent challenge': { table: 'spent_challenges', life: DAY, row: (at, id) => ({ id: idAt('pch', at, id) }) },
  'a code of single sign-on': {
    table: 'sso_codes',
    life: 0,
    row: (expires_at, hash, project_id) => ({
      hash,
      project_id,
      redirect_uri: '',
      consumer_id: '',
      created: 0,
      identity_id: '',
      identity: '{}',
      expires_at,
    }),
    key: 'hash',
  },
  'a login under way': {
    table: 'sso_logins',
    life: HOUR,
    row: (at, id, project_id) => ({
      id: idAt('slg', at, id),
      project_id,
      connection_id: 'c',
      mode: 'team',
      redirect_to: '/',
      expires_at: at,
    }),
  },
  'a test run': {
    table: 'sso_tests',
    life: TESTS_KEPT_FOR,
    row: (created_at, id, project_id) => ({
      project_id,
      connection_id: 'c',
      id,
      revision: 1,
      state: 'waiting',
      created_at,
    }),
  },
  'a deleted connection': {
    table: 'sso_connections',
    life: DELETED_KEPT_FOR,
    row: (at, id, project) => ({ id, ...connection(project, at) }),
  },
  'a replay': {
    table: 'replays',
    database: STORE,
    life: RECORDS,
    row: (at, id, project_id) => ({ project_id, id: idAt('rpl', at, id), actor: 'u', queued: 1 }),
  },
  'a revoked grant': {
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (revoked_at, id, project) => ({ ...grant(revoked_at, id, project), revoked_at }),
  },
  'an expired grant': {
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (expires_at, id, project) => ({ ...grant(expires_at, id, project), expires_at }),
  },
  'a move of a customer': {
    table: 'customer_moves',
    database: STORE,
    life: RECORDS,
    row: (moved_at, ref, project_id) => ({ project_id, ref, moved_at, customer: 'c', vendor: 'stripe' }),
    key: 'ref',
  },
}

const NAMED = Object.entries(PURGES).map(([what, purge], i) => ({ what, n: `${i}`.padStart(2, '0'), ...purge }))

async function insert({ database = DIRECTORY, table }: Purge, row: Row): Promise<void> {
  const names = Object.keys(row)
  await database
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
    .bind(...Object.values(row))
    .run()
}

describe('housekeeping', () => {
  beforeAll(async () => {
    stopClock(NIGHT)
    const { project } = await freshProject()
    for (const purge of NAMED) {
      await insert(purge, purge.row(NIGHT - purge.life + MINUTE, `k${purge.n}`, project))
      await insert(purge, purge.row(NIGHT - purge.life - MINUTE, `g${purge.n}`, project))
    }
    await keepHouse()
  })

  it.each(NAMED)(
    'leaves $what a minute inside its time, and deletes one past it',
    async ({ n, table, key, database }) => {
      const { results } = await (database ?? DIRECTORY)
        .prepare(`SELECT substr(${key ?? 'id'}, -3) AS id FROM ${table} WHERE substr(${key ?? 'id'}, -2) = ?`)
        .bind(n)
        .all<{ id: string }>()
      expect(results.map(({ id }) => id)).toEqual([`k${n}`])
    },
  )
})
