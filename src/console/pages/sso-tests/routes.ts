import { Hono } from 'hono'
import { batch } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireConnection } from '../../../sso/connections/change'
import { findSsoConnection } from '../../../sso/connections/connection'
import { requireTest, startTest } from '../../../sso/test-runs/start'
import { findTest, testStateOf } from '../../../sso/test-runs/test-run'
import { page, pathsOf, type Visit } from '../../page'
import { Run, testPage } from './test'

/** Test runs of single sign-on connections. */
export const ssoTestPages = new Hono<HttpEnv>()
  .post('/:connection/test', page('sso:write'), async (c) => {
    const connection = c.req.param('connection') ?? ''
    const { test_id, url } = await startTest(c, connection)
    const login = url.slice(url.lastIndexOf('/') + 1)
    return c.redirect(`${pathsOf(c).sso}/${connection}/tests/${test_id}?login=${login}`, 303)
  })
  .get('/:connection/tests/:test', page('sso:read'), async (c) => testPage({ c, ...(await read(c)) }))
  .get('/:connection/tests/:test/run', page('sso:read'), async (c) => {
    const { connection, test } = await read(c)
    if (c.req.query('seen') === testStateOf(test, c.get('rt').now)) return c.body(null, 204)
    return c.html(Run({ c, connection, test, fresh: true }))
  })

async function read(c: Visit) {
  const { directory } = c.get('rt')
  const project_id = projectOf(c.get('actor'))
  const connection_id = c.req.param('connection') ?? ''
  const { connections, tests } = await batch(directory, {
    connections: findSsoConnection(directory, project_id, connection_id),
    tests: findTest(directory, { project_id, connection_id, id: c.req.param('test') ?? '' }),
  })
  return { connection: requireConnection(connections[0]), test: requireTest(tests[0]) }
}
