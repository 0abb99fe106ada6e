import type { Context, MiddlewareHandler } from 'hono'
import { addressOf } from '../http/address'
import { projectOf } from '../http/auth'
import { readBytes } from '../http/body'
import type { HttpEnv } from '../http/context'
import { type PagePolicy, remember } from '../http/meta'
import { type Counted, requireOwnSignIn, requireScopes } from '../http/policy'
import { countForProject } from '../http/rate-limit'
import { MAX_BODY_BYTES } from '../http/validate'
import type { Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { formTokenOf, requireFormToken, requireSameOrigin } from './csrf'
import { projectPaths } from './paths'
import { isNotSignedIn, userOf, userOfCookie } from './session'

/** A request for a page of the console. */
export type Visit = Context<HttpEnv>

/**
 * The first middleware of every page: states who may use the page and enforces it. It checks, in this order, the origin
 * of a form, the session, its membership in the path's project, the role, the limits of that project, and the form's token.
 *
 * @param counted how it counts against those limits, if not as a read or as a write
 */
export function page(policy: PagePolicy, counted: Counted = {}): MiddlewareHandler<HttpEnv> {
  const admit = async (c: Visit, next: () => Promise<void>) => {
    if (policy !== 'anyone') {
      const { user, token } = await enter(c, c.req.param('project') ?? null)
      if (policy === 'account') requireOwnSignIn(user)
      else if (policy !== 'user') requireScopes(user, [policy])
      await countForProject(c, counted, user)
      if (c.req.method === 'POST') requireFormToken(c.get('form'), token)
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

/** The signed-in user, with the token of the forms on the page. @throws {Fault} as {@link userOfCookie} */
async function enter(c: Visit, project: string | null) {
  const user = await userOfCookie(c, project)
  const token = await formTokenOf(c.get('rt'), user.id)
  c.set('formToken', token)
  return { user, token }
}

/**
 * Puts a page that anybody may see into the frame of the visitor: that of the project, if they are a member of it. A
 * page for a visitor who is not known, or with a database that does not answer, has no frame.
 */
export async function enterIfKnown(c: Visit, project: string | null): Promise<void> {
  try {
    await enter(c, project)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (project !== null && !isNotSignedIn(error)) await enterIfKnown(c, null)
  }
}

/** Whether the user has this scope in the page's project. Pages hide the actions that the user may not perform. */
export function can(c: Visit, scope: Scope): boolean {
  return userOf(c).scopes.includes(scope)
}

/** The paths of the page's project. */
export function pathsOf(c: Visit) {
  return projectPaths(projectOf(c.get('actor')))
}
