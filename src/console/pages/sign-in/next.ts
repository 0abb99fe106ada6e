import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'

/** The path to continue to after sign-in. Anything outside the console becomes the console's start page. */
export function localPath(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  if (!wanted || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}
