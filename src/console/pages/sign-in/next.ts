import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'

/** A path of the console to go on to; anything else, such as another origin, becomes the console's start. */
export function localPath(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  if (!wanted || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}
