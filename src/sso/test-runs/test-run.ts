import { and, desc, eq, lt, notInArray, type SQL, sql } from 'drizzle-orm'
import { audited, type Change } from '../../audit/store'
import { batch, type Directory, run } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { insertFrom } from '../../db/insert-from'
import { insertWhere } from '../../db/insert-where'
import { ssoConnections, ssoLogins, ssoTests } from '../../identities/schema'
import type { Discovery, SHOWN_TEST_STATES, TestReport, TestState } from '../../identities/values'
import { isLiveConnection } from '../connections/connection'
import { discoveryNoted, ssoConnectionEntry } from '../connections/write'
import { KEPT_TESTS, TEST_TTL, TESTS_KEPT_FOR } from '../limits'
import { loginRow, type NewLogin } from '../login/logins'

export type Test = typeof ssoTests.$inferSelect
type Of = Pick<Test, 'project_id' | 'connection_id' | 'id'>

function ofConnection({ project_id, connection_id }: Pick<Of, 'project_id' | 'connection_id'>) {
  return and(eq(ssoTests.project_id, project_id), eq(ssoTests.connection_id, connection_id))
}
const isTest = (of: Of) => and(ofConnection(of), eq(ssoTests.id, of.id))

/** How a test run has ended. */
export type TestResult = {
  state: Exclude<TestState, 'waiting'>
  report: TestReport
  /** What the discovery document of the provider was like; null if the run did not get to it. */
  discovery: Omit<Discovery, 'checked_at'> | null
}

/** Reads a test run of a connection. */
export function findTest(directory: Directory, of: Of) {
  return directory.select().from(ssoTests).where(isTest(of))
}

/**
 * Begins a test run of a connection, with the login that a browser opens, and deletes the oldest runs beyond
 * {@link KEPT_TESTS}.
 *
 * @returns false if the connection is deleted, and nothing has begun
 */
export async function beginTest(directory: Directory, of: Of, loginId: string, change: Change): Promise<boolean> {
  const { project_id, connection_id, id } = of
  const isLive = isLiveConnection(project_id, connection_id) as SQL
  const isThere = sql`EXISTS (SELECT 1 FROM ${ssoConnections} WHERE ${isLive})`
  const about = { mode: 'test', redirect_to: id, login_hint: null } as const
  const login: NewLogin = { id: loginId, project_id, connection_id, ...about }
  const begun = insertFrom(
    directory,
    ssoTests,
    {
      project_id: ssoConnections.project_id,
      connection_id: ssoConnections.id,
      id: sql`${id}`,
      revision: ssoConnections.revision,
      state: sql`'waiting'`,
      created_at: sql`${change.now}`,
    },
    sql`FROM ${ssoConnections} WHERE ${isLive}`,
  )
  const newest = directory
    .select({ id: ssoTests.id })
    .from(ssoTests)
    .where(ofConnection(of))
    .orderBy(desc(ssoTests.id))
    .limit(KEPT_TESTS)
  const { logins } = await batch(directory, {
    ...audited(
      directory,
      change,
      ssoConnectionEntry(project_id, connection_id, 'sso_connection.test_started', { test: id }),
      begun,
    ),
    logins: insertWhere(directory, ssoLogins, loginRow(login, change.now), isThere).returning({ id: ssoLogins.id }),
    old: directory.delete(ssoTests).where(and(ofConnection(of), notInArray(ssoTests.id, newest))),
  })
  return logins.length > 0
}

/** Deletes test runs that began more than {@link TESTS_KEPT_FOR} ago. @returns how many; at most `most` */
export async function purgeTests(directory: Directory, now: number, most: number): Promise<number> {
  const key = [ssoTests.project_id, ssoTests.connection_id, ssoTests.id]
  const old = lt(ssoTests.created_at, now - TESTS_KEPT_FOR)
  return (await run(directory, deleteSome(directory, ssoTests, { key, where: old, most }))).length
}

/**
 * Ends a test run. If it has passed, its connection is tested, unless the connection has changed since the run began.
 *
 * @returns whether it is still kept
 */
export async function endTest(
  directory: Directory,
  of: Of,
  { state, report, discovery }: TestResult,
  change: Change,
): Promise<boolean> {
  const { project_id, connection_id, id } = of
  const tested = sql`(SELECT ${ssoTests.revision} FROM ${ssoTests} WHERE ${isTest(of)} AND ${ssoTests.state} = 'passed')`
  const { ended } = await batch(directory, {
    ended: directory
      .update(ssoTests)
      .set({ state, report })
      .where(and(isTest(of), eq(ssoTests.state, 'waiting')))
      .returning({ id: ssoTests.id }),
    ...(discovery && {
      discovery: discoveryNoted(
        directory,
        { project_id, id: connection_id },
        { ...discovery, checked_at: change.now },
        sql`EXISTS (SELECT 1 FROM ${ssoTests} WHERE ${isTest(of)})`,
      ),
    }),
    ...audited(
      directory,
      change,
      ssoConnectionEntry(project_id, connection_id, 'sso_connection.tested', { test: id }),
      directory
        .update(ssoConnections)
        .set({ tested_revision: ssoConnections.revision, tested_at: change.now })
        .where(and(isLiveConnection(project_id, connection_id), eq(ssoConnections.revision, tested))),
    ),
  })
  return ended.length > 0
}

/** The state of a test run now: one that waits has expired once no browser can come back to it. */
export function testStateOf(
  { state, created_at }: Pick<Test, 'state' | 'created_at'>,
  now: number,
): (typeof SHOWN_TEST_STATES)[number] {
  return state === 'waiting' && created_at + TEST_TTL <= now ? 'expired' : state
}
