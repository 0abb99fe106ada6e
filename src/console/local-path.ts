import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'

/** Characters of a path to continue to. The longest are searches of events. One is stored while a sign-in is under way. */
const MAX_PATH = 2000

/** A path to continue to, such as after sign-in. Anything outside the console becomes the console's start page. */
export function localPath(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  if (!wanted || wanted.length > MAX_PATH || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}

/** The page of the console that sent this request, as {@link localPath} of it. */
export function pageBefore(c: Context<HttpEnv>): string {
  const { origin } = new URL(c.req.url)
  const referer = c.req.header('Referer') ?? ''
  return localPath(c, referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : null)
}
