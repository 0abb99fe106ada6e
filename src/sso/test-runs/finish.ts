import type { Runtime } from '../../env'
import type { TestReport, TestStep } from '../../identities/values'
import { utf8 } from '../../lib/crypto'
import type { SsoConnection } from '../connections/connection'
import { MAX_REPORT, MAX_REPORT_TEXT } from '../limits'
import type { Login } from '../login/logins'
import { isUnfinished } from '../login/refused'
import type { Identified, Recorder } from '../oidc/oidc-client'
import { endTest, type TestResult } from './test-run'
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
  const steps: TestStep[] = []
  const would = await identify((step) => steps.push(step)).then(
    (identified) => wouldDo(rt, connection, identified),
    (error: unknown) => {
      if (!isUnfinished(error)) throw error
      // Before the browser is sent away, nothing has been recorded.
      if (steps.length === 0)
        steps.push({ name: 'Discovery', expected: connection.issuer, got: error.message, ok: false })
      return { would: `Nobody would be signed in. ${error.message}` }
    },
  )
  const result: TestResult = {
    state: steps.every(({ ok }) => ok) ? 'passed' : 'failed',
    report: fittedReport({ steps, ...would }),
    discovery: discoveryIn(steps),
  }
  const { project_id, connection_id, redirect_to: id } = login
  // The browser need not be of a member: whoever has the link can run the test.
  const change = { actor: { type: 'system', id: connection_id }, request_id: requestId, now: rt.now } as const
  return (await endTest(rt.directory, { project_id, connection_id, id }, result, change)) ? result : null
}

function discoveryIn(steps: readonly TestStep[]): TestResult['discovery'] {
  const step = steps.find(({ name }) => name === 'Discovery')
  return step ? { ok: step.ok, detail: step.ok ? null : step.got } : null
}

/** A report with its texts cut so that it fits into {@link MAX_REPORT}. */
export function fittedReport({ steps, would, ...rest }: TestReport): TestReport {
  for (let most = MAX_REPORT_TEXT; ; most = Math.floor(most / 2)) {
    const cut = (text: string | null) => (text && text.length > most ? `${text.slice(0, most)}…` : text)
    const short = (step: TestStep) => ({ ...step, expected: cut(step.expected), got: cut(step.got) })
    const report = { steps: steps.map(short), would: cut(would) ?? '', ...rest }
    if (utf8(JSON.stringify(report)).byteLength <= MAX_REPORT) return report
  }
}
