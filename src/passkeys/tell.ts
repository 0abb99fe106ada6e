import type { Context } from 'hono'
import { clientOf } from '../accounts/client'
import { type FactorChange, factorNotice } from '../accounts/notice-mails'
import { tell } from '../accounts/notices'
import type { NoticeOf } from '../accounts/notices-store'
import type { HttpEnv } from '../http/context'

/** Tells a user by email of a change of their passkeys or recovery codes. */
export function tellChange(c: Context<HttpEnv>, change: FactorChange, notice: NoticeOf): void {
  tell(c, notice, (of) => factorNotice(of, change, clientOf(c)))
}
