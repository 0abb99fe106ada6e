import type { SsoConnection } from '../connections/store'
import type { Identified } from '../oidc/client'
import type { Login } from './logins-store'

/** A login that a browser has come back from, and who it is as the provider says. */
export type Finishing = { login: Login; connection: SsoConnection; identified: Identified }
