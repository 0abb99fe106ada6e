import { Hono } from 'hono'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { readDirectory } from '../../http/read'
import { route } from '../../http/route'
import { DAY } from '../../lib/time'
import { requireConnection } from '../connections/change'
import { findSsoConnection } from '../connections/connection'
import { KEPT_TESTS, TESTS_KEPT_FOR } from '../limits'
import { presentTest, SsoTest, StartedTest } from './fields'
import { requireTest, startTest } from './start'
import { findTest } from './test-run'

const tag = 'Single sign-on'
const actors = ['session', 'api_key'] as const

/** Test runs of connections. */
export const ssoTestRoutes = new Hono<HttpEnv>()
  .post(
    '/:id/test',
    route({
      id: 'testSsoConnection',
      summary: 'Begin a test run of a connection',
      description: `Returns a URL for a browser. Whoever opens it signs in at the provider, but is not signed in here: every step is recorded instead. A connection can only be activated after a passed test run. The last ${KEPT_TESTS} runs of a connection are kept, for ${TESTS_KEPT_FOR / DAY} days.`,
      tag,
      policy: { actors, scope: 'sso:write', project: true },
      responses: { 201: { description: 'Where to send the browser.', schema: StartedTest } },
      faults: ['daily_limit_reached', 'not_found', 'public_origin_missing'],
    }),
    async (c) => answer(c, await startTest(c, c.req.param('id')), 201),
  )
  .get(
    '/:id/tests/:test',
    route({
      id: 'getSsoTest',
      summary: 'Get a test run',
      description: 'What each step expected and got, and what a real sign-in would do.',
      tag,
      policy: { actors, scope: 'sso:read', project: true, reads: true },
      responses: { 200: { description: 'The test run.', schema: SsoTest } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { directory, now } = c.get('rt')
      const project_id = projectOf(c.get('actor'))
      const connection_id = c.req.param('id')
      const { connections, tests } = await readDirectory(c, {
        connections: findSsoConnection(directory, project_id, connection_id),
        tests: findTest(directory, { project_id, connection_id, id: c.req.param('test') }),
      })
      const { revision } = requireConnection(connections[0])
      return answer(c, presentTest(requireTest(tests[0]), revision, now), 200)
    },
  )
