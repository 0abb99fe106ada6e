import type { MiddlewareHandler } from 'hono'
import { Fault } from '../lib/fault'
import { isLocalhost } from '../lib/localhost'
import type { HttpEnv } from './context'
import { isOurs, rootless } from './our-hosts'

/** Pages that people open. None of them has a secret in its address. */
const PAGES = /^\/(errors|console(\/.*)?)?$/

/**
 * Refuses plain HTTP, except on localhost. Programs get an error: a redirect would work, and every request would still
 * send its secret in plain text first. Browsers that open a page are redirected; their cookie is never sent in plain
 * text.
 */
export const requireHttps: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const url = new URL(c.req.url)
  if (isLocalhost(url.hostname)) return next()
  if (url.protocol !== 'https:') {
    url.protocol = 'https:'
    if (['GET', 'HEAD'].includes(c.req.method) && PAGES.test(c.req.path)) return c.redirect(url.href, 308)
    throw new Fault(
      'https_required',
      'Use https. Someone may have read a secret that was sent over http, so rotate it.',
    )
  }
  await next()
  // Names below a customer's host are not ours to decide about, even after the project has lost the host.
  const below = isOurs(c.get('rt').settings, rootless(url.hostname)) ? '; includeSubDomains' : ''
  c.res.headers.set('Strict-Transport-Security', `max-age=31536000${below}`)
}
