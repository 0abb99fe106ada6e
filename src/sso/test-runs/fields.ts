import * as z from 'zod'
import { exampleOf, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { SHOWN_TEST_STATES } from '../../identities/values'
import { iso } from '../../lib/time'
import type { Test } from './test-run'
import { testStateOf } from './test-run'

export const StartedTest = named(
  'StartedSsoTest',
  z.object({
    test_id: z.string(),
    url: z.string().describe('Open it in a browser, and sign in at the provider. It works once.'),
    expires_at: timestamp.describe('The browser must open it by then. The sign-in may take ten minutes from there.'),
  }),
  {
    test_id: SAMPLE.ssoTest,
    url: `https://api.example.com/sso/login/${SAMPLE.login}`,
    expires_at: SAMPLE.later,
  },
)

const Step = named(
  'SsoTestStep',
  z.object({
    name: z.string(),
    ok: z.boolean(),
    expected: z.string().nullable(),
    got: z.string().nullable().describe('What arrived. It never contains a code, a token or a secret.'),
  }),
  { name: 'ID token: aud', ok: false, expected: 'platform', got: 'another-client' },
)

export const SsoTest = named(
  'SsoTest',
  z.object({
    id: z.string(),
    connection_id: z.string(),
    state: named('SsoTestState', z.enum(SHOWN_TEST_STATES)).describe(
      '`waiting`: nobody has returned from the provider yet. `expired`: nobody returned in time, and the link no longer works. `passed`: every step is `ok`.',
    ),
    steps: z.array(Step).readonly().describe('In order. A step that was not reached is left out.'),
    would: z.string().nullable().describe('What a real sign-in of this person would do. Null if nobody has come back.'),
    current: z.boolean().describe('Whether the connection still has the client and claims that were tested.'),
    created_at: timestamp,
  }),
  {
    id: SAMPLE.ssoTest,
    connection_id: SAMPLE.ssoConnection,
    state: 'failed',
    steps: [exampleOf(Step)],
    would: 'Nobody would be signed in. The ID token is not valid.',
    current: true,
    created_at: SAMPLE.time,
  },
)

/** @param revision of the connection now */
export function presentTest(test: Test, revision: number, now: number): z.infer<typeof SsoTest> {
  const { id, connection_id, report, ...row } = test
  return {
    id,
    connection_id,
    state: testStateOf(test, now),
    steps: report?.steps ?? [],
    would: report?.would ?? null,
    current: row.revision === revision,
    created_at: iso(row.created_at),
  }
}
