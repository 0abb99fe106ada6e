import type { Runtime } from '../../env'
import type { Step } from '../../identities/values'
import type { SsoConnection } from '../connections/store'
import type { Login } from '../login/logins-store'
import { isUnfinished } from '../login/refused'
import type { Identified, Recorder } from '../oidc/client'
import { fitted } from './report'
import { endTest, type TestResult } from './tests-store'
import { wouldDo } from './would'

/** A test run that a browser has come back from, or that did not get to the provider. */
export type Tested = {
  /** `redirect_to` is the id of the test run. */
  login: Login
  connection: SsoConnection
  /** Checks what the browser came back with. @throws {SsoError} or {@link SignInRefused} */
  identify: (record?: Recorder) => Promise<Identified>
}

/** Ends a test run, and records what it found. It signs nobody in. @returns null if newer runs have taken its place */
export async function finishTest(
  rt: Runtime,
  { login, connection, identify }: Tested,
  requestId: string,
): Promise<TestResult | null> {
  const steps: Step[] = []
  const would = await identify((step) => steps.push(step)).then(
    (identified) => wouldDo(rt, connection, identified),
    (error: unknown) => {
      if (!isUnfinished(error)) throw error
      // Before the browser is sent away, nothing has been recorded.
      if (steps.length === 0)
        steps.push({ name: 'Discovery', expected: connection.issuer, got: error.message, ok: false })
      return `Nobody would be signed in. ${error.message}`
    },
  )
  const result: TestResult = {
    state: steps.every(({ ok }) => ok) ? 'passed' : 'failed',
    report: fitted({ steps, would }),
    discovery: discoveryIn(steps),
  }
  const { project_id, connection_id, redirect_to: id } = login
  // The browser need not be of a member: whoever has the link can run the test.
  const change = { actor: { type: 'system', id: connection_id }, request_id: requestId, now: rt.now } as const
  return (await endTest(rt.directory, { project_id, connection_id, id }, result, change)) ? result : null
}

function discoveryIn(steps: readonly Step[]): TestResult['discovery'] {
  const step = steps.find(({ name }) => name === 'Discovery')
  return step ? { ok: step.ok, detail: step.ok ? null : step.got } : null
}
