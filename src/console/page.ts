import type { Context, MiddlewareHandler } from 'hono'
import { addressOf } from '../http/address'
import { projectOf, requireScopes } from '../http/auth'
import { readBytes } from '../http/body'
import type { HttpEnv } from '../http/context'
import { type PagePolicy, remember } from '../http/meta'
import { MAX_BODY_BYTES } from '../http/validate'
import type { Scope } from '../lib/access'
import { formTokenOf, requireFormToken, requireSameOrigin } from './csrf'
import { projectPaths } from './paths'
import { userOf, userOfCookie } from './session'

/**
 * The first middleware of every page: states who may use the page and enforces it. It checks, in this order, the origin
 * of a form, the session, its membership in the path's project, the form's token, and the role.
 */
export function page(policy: PagePolicy): MiddlewareHandler<HttpEnv> {
  const admit = async (c: Context<HttpEnv>, next: () => Promise<void>) => {
    if (policy !== 'anyone') {
      const user = await userOfCookie(c, c.req.param('project') ?? null)
      const token = await formTokenOf(c.get('rt'), user.id)
      c.set('formToken', token)
      if (c.req.method === 'POST') requireFormToken(c.get('form'), token)
      if (policy !== 'user') requireScopes(user, [policy])
    }
    await next()
  }
  const middleware: MiddlewareHandler<HttpEnv> = async (c, next) => {
    if (c.req.method !== 'POST') return admit(c, next)
    requireSameOrigin(c)
    const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES, [addressOf(c)])
    c.set('form', new URLSearchParams(new TextDecoder().decode(bytes)))
    return admit(c, next)
  }
  return remember(middleware, { page: policy })
}

/** Whether the user has this scope in the page's project. Pages hide the actions that the user may not perform. */
export function can(c: Context<HttpEnv>, scope: Scope): boolean {
  return userOf(c).scopes.includes(scope)
}

/** The paths of the page's project. */
export function pathsOf(c: Context<HttpEnv>) {
  return projectPaths(projectOf(c.get('actor')))
}
