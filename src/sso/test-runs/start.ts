import type { Context } from 'hono'
import { run } from '../../db/client'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { DAY, iso } from '../../lib/time'
import { requireConnection } from '../connections/change'
import { findSsoConnection } from '../connections/connection'
import { KEPT_TESTS, LOGIN_TTL, TESTS_KEPT_FOR } from '../limits'
import { loginUrl } from '../login/browser'
import { beginTest, type Test } from './test-run'

/**
 * Begins a test run of a connection of the caller's project.
 *
 * @returns the address that a browser opens, and until when
 * @throws {Fault} `not_found`, `public_origin_missing`
 */
export async function startTest(c: Context<HttpEnv>, connection_id: string) {
  const { directory, now } = c.get('rt')
  const project_id = projectOf(c.get('actor'))
  const [row] = await run(directory, findSsoConnection(directory, project_id, connection_id))
  const connection = requireConnection(row)
  const test_id = newId('sit', now)
  const login_id = newId('slg', now)
  const url = loginUrl(c, connection, login_id)
  const begun = await beginTest(directory, { project_id, connection_id, id: test_id }, login_id, changeOf(c))
  // It may have been deleted since it was read.
  if (!begun) requireConnection(undefined)
  return { test_id, url, expires_at: iso(now + LOGIN_TTL) }
}

/** @throws {Fault} `not_found` */
export function requireTest(row: Test | undefined): Test {
  if (row) return row
  throw new Fault(
    'not_found',
    `This connection has no test run with this id. Only the last ${KEPT_TESTS} are kept, for ${TESTS_KEPT_FOR / DAY} days.`,
  )
}
