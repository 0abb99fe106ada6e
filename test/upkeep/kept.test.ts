import { beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_KEPT, EVENTS_KEPT } from '../../src/accounts/limits'
import { RELEASED_KEPT_FOR } from '../../src/domains/limits'
import { DIAGNOSES_KEPT_FOR, REMOVED_KEPT_FOR } from '../../src/inbox/diagnoses/limits'
import { type IdPrefix, idFloor } from '../../src/lib/ids'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { SESSION_MAX } from '../../src/sessions/limits'
import { DELETED_KEPT_FOR, TESTS_KEPT_FOR } from '../../src/sso/limits'
import { RETIRED_FOR } from '../../src/token-keys/limits'
import { stopClock } from '../clock'
import { DIRECTORY, freshProject, STORE } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { SOURCES } from '../sources'

/*
 * Housekeeping deletes what is a minute past its time, and leaves what is a minute inside it: a row of each for every purge
 * that has a time, all in one run. Retention of events and payloads is in retention.test.ts.
 */

/** Purges that have no line here, and the test that looks at each. */
const ELSEWHERE = {
  purgePayloads: 'retention.test.ts',
  purgePacked: 'retention.test.ts',
  purgeEvents: 'retention.test.ts',
  purgeMinutes: 'retention.test.ts',
  purgeFormats: '../inbox/formats/bounds.test.ts',
  purgeArchives: '../inbox/archive/archive.test.ts',
  purgeArchivesOf: '../inbox/archive/archive.test.ts',
  purgeProjects: '../projects/purge.test.ts',
  purgeChanges: '../feed/position.test.ts',
  purgeDeliveryRuns: '../endpoints/kept.test.ts',
  purgeDeliveries: '../endpoints/kept.test.ts',
  purgeResends: '../endpoints/kept.test.ts',
  purgeNotices: '../notices/notices.test.ts',
  purgeIdentities: '../sso/connections.test.ts',
}

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')
const RECORDS = 400 * DAY
const AUDIT = 400 * DAY

type Row = Record<string, string | number | null>
type Purge = {
  /** The function that deletes such rows. */
  by: string
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
    by: 'purgeEnded',
    table: 'sign_in_codes',
    life: DAY,
    row: (at, id) => ({ id: idAt('chl', at, id), email: id, code_hash: 'h', created_at: at, expires_at: at }),
  },
  'a session': {
    by: 'purgeEnded',
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
    by: 'purgeAccountEvents',
    table: 'account_events',
    life: EVENTS_KEPT,
    row: (at, id) => ({ user_id: 'u', id, type: 'sign_in', at }),
  },
  'a browser of an account': {
    by: 'purgeBrowsers',
    table: 'account_browsers',
    life: BROWSER_KEPT,
    row: (seen_at, id) => ({ user_id: 'u', browser: id, seen_at }),
    key: 'browser',
  },
  'who asked a vendor': {
    by: 'purgeAsks',
    table: 'vendor_asks',
    life: DAY,
    database: STORE,
    row: (used_at, id, project_id) => ({ project_id, vendor: 'stripe', kind: 'customer', object_id: id, used_at }),
    key: 'object_id',
  },
  'a diagnosis of a refused delivery': {
    by: 'purgeDiagnoses',
    table: 'diagnoses',
    life: DIAGNOSES_KEPT_FOR,
    database: STORE,
    row: (at, connection_id, project_id) => ({
      project_id,
      connection_id,
      at,
      cause: 'signature_missing',
      verdict: 'unknown',
      tried: 0,
      size: 0,
      headers: '[]',
    }),
    key: 'connection_id',
  },
  'a removed signing secret': {
    by: 'purgeRemoved',
    table: 'removed_secrets',
    life: REMOVED_KEPT_FOR,
    database: STORE,
    row: (removed_at, id, project_id) => ({ project_id, connection_id: 'con_1', id, key: 1, box: 'b', removed_at }),
  },
  'a muted cause': {
    by: 'purgeMutes',
    table: 'cause_mutes',
    life: DAY,
    database: STORE,
    row: (muted_at, connection_id, project_id) => ({
      ...{ project_id, connection_id, kind: 'failed', code: 'none', muted_by: 'u' },
      ...{ muted_at, until: muted_at + DAY },
    }),
    key: 'connection_id',
  },
  'a day of a key': {
    by: 'purgeKeyDays',
    table: 'api_key_days',
    life: 91 * DAY - HOUR * 21, // whole days: NIGHT is three hours into one
    database: STORE,
    row: (at, key_id, project_id) => ({
      project_id,
      key_id,
      day: Math.floor(at / DAY),
      counts: '{}',
      seen: '{"networks":[],"agents":[],"calls":[]}',
    }),
    key: 'key_id',
  },
  'an Idempotency-Key': {
    by: 'purgeKept',
    table: 'idempotency',
    life: DAY,
    database: STORE,
    row: (at, key_hash, project_id) => ({ project_id, actor: 'u', key_hash, fingerprint: 'f', object_id: 'o', at }),
    key: 'key_hash',
  },
  'a spent challenge': {
    by: 'purgeSpent',
    table: 'spent_challenges',
    life: DAY,
    row: (at, id) => ({ id: idAt('pch', at, id) }),
  },
  'a code of single sign-on': {
    by: 'purgeCodes',
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
    by: 'purgeLogins',
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
    by: 'purgeTests',
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
    by: 'purgeConnections',
    table: 'sso_connections',
    life: DELETED_KEPT_FOR,
    row: (at, id, project) => ({ id, ...connection(project, at) }),
  },
  'an import': {
    by: 'purgeRuns',
    table: 'vendor_runs',
    database: STORE,
    life: RECORDS,
    row: (at, id, project_id) => ({
      ...{ project_id, id: idAt('imp', at, id), connection_id: `con_${id}`, state: 'done', kinds: '{}', actor: 'u' },
      ...{ invoice_months: 3, invoices_since: 1, created_at: at, updated_at: at, finished_at: at },
    }),
  },
  'a replay': {
    by: 'purgeReplays',
    table: 'replays',
    database: STORE,
    life: RECORDS,
    row: (at, id, project_id) => ({ project_id, id: idAt('rpl', at, id), actor: 'u', queued: 1 }),
  },
  'a revoked grant': {
    by: 'purgeGrants',
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (revoked_at, id, project) => ({ ...grant(revoked_at, id, project), revoked_at }),
  },
  'an expired grant': {
    by: 'purgeGrants',
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (expires_at, id, project) => ({ ...grant(expires_at, id, project), expires_at }),
  },
  'a revoked grant that would have ended later': {
    by: 'purgeGrants',
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (revoked_at, id, project) => ({ ...grant(revoked_at, id, project), revoked_at, expires_at: NIGHT + DAY }),
  },
  'an expired grant that was revoked later': {
    by: 'purgeGrants',
    table: 'grants',
    database: STORE,
    life: RECORDS,
    row: (expires_at, id, project) => ({ ...grant(expires_at, id, project), expires_at, revoked_at: NIGHT - DAY }),
  },
  'a deleted domain': {
    by: 'purgeReleased',
    table: 'domains',
    life: RELEASED_KEPT_FOR,
    row: (state_since, id, project_id) => ({
      project_id,
      id,
      hostname: `${id}.dev`,
      purpose: 'sso',
      state: 'released',
      state_since,
      token: 't',
      created_by: 'u',
      created_at: 1,
      version: 1,
    }),
  },
  'an entry of the audit log': {
    by: 'purgeAudit',
    table: 'audit_log',
    database: STORE,
    life: AUDIT,
    row: (at, id, project_id) => ({
      project_id,
      id: idAt('aud', at, id),
      actor_type: 'user',
      actor_id: 'u',
      action: 'a',
      object_type: 'o',
      object_id: 'o',
      request_id: 'r',
    }),
  },
  'a retired key of entitlement tokens': {
    by: 'keysRenewed',
    table: 'entitlement_keys',
    database: STORE,
    life: RETIRED_FOR,
    row: (state_at, kid, project_id) => ({ project_id, kid, state: 'retired', public: '{}', created_at: 1, state_at }),
    key: 'kid',
  },
  'a move of a customer': {
    by: 'purgeMoves',
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

it('Every purge has a line here, or a test of its own', () => {
  const purges = SOURCES.flatMap(({ code }) =>
    [...code.matchAll(/export (?:async )?function (purge\w+|keysRenewed)\(/g)].map(([, name]) => name),
  )
  const stated = [...Object.values(PURGES).map(({ by }) => by), ...Object.keys(ELSEWHERE)]
  expect([...new Set(stated)].sort()).toEqual(purges.sort())
})

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
