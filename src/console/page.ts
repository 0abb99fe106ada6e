import type { Context, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { requireScopes } from '../http/auth'
import { readBytes } from '../http/body'
import type { HttpEnv } from '../http/context'
import { type PagePolicy, remember } from '../http/meta'
import { invalid, MAX_BODY_BYTES } from '../http/validate'
import type { Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { formTokenOf, requireFormToken, requireSameOrigin } from './csrf'
import { userOf, userOfCookie } from './session'
import { sentence } from './ui/format'

/**
 * The first middleware of every page: states who may see it and holds requests to that. In this order: a form's origin,
 * the session, its membership of the path's project, the form's token, the role.
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
    const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES)
    c.set('form', new URLSearchParams(new TextDecoder().decode(bytes)))
    return admit(c, next)
  }
  return remember(middleware, { page: policy })
}

/** Whether the user may do what the scope names in the page's project: what he may not do has no button. */
export function can(c: Context<HttpEnv>, scope: Scope): boolean {
  return userOf(c).scopes.includes(scope)
}

/** A form's fields by the API's own schema. @throws {Fault} `validation_failed` */
export function parse<T extends z.ZodType>(schema: T, fields: unknown): z.infer<T> {
  const result = schema.safeParse(fields)
  if (!result.success) throw invalid(result.error.issues)
  return result.data
}

/** What is wrong with a form, by field; `form` where it is none of the fields. */
export type Mistakes = Record<string, string>

/** A refusal as something to say in the form. @throws what is not for its reader to mend */
export function mistakesOf(error: unknown): { mistakes: Mistakes; status: 409 | 422 } {
  if (!(error instanceof Fault)) throw error
  if (error.fault === 'validation_failed') {
    const faults = error.extra.errors ?? []
    const mistakes = faults.map(({ pointer, message }) => [pointer.split('/')[1] || 'form', sentence(message)])
    return { mistakes: Object.fromEntries(mistakes.reverse()), status: 422 }
  }
  if (!/limit_reached|conflict|rotation_of/.test(error.fault)) throw error
  return { mistakes: { form: error.detail }, status: 409 }
}
