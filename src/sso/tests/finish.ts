import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import type { SsoConnection } from '../connections/store'
import type { Login } from '../login/logins-store'
import { SignInRefused } from '../login/refused'
import type { Identified, Recorder } from '../oidc/client'

/** A test run that a browser has come back from, or that did not get to the provider. */
export type Tested = {
  /** `redirect_to` is the id of the test run. */
  login: Login
  connection: SsoConnection
  /** Checks what the browser came back with. @throws {SsoError} or {@link SignInRefused} */
  identify: (record?: Recorder) => Promise<Identified>
}

/** Records a test run, and leads to its page. It signs nobody in. */
export async function finishTest(_c: Context<HttpEnv>, _: Tested): Promise<Response> {
  throw new SignInRefused('not_supported', 'Test runs are not here yet.')
}
