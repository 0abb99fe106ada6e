import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { pageBefore } from './local-path'

/** Leads the visitor to another page, also from a partial update. */
export function lead(c: Context<HttpEnv>, target: string): Response {
  if (!c.req.header('HX-Request')) return c.redirect(target, 303)
  c.header('HX-Redirect', target)
  return c.body(null, 401)
}

/** Whether an error says that the session must be confirmed first. */
export function needsConfirmation(error: unknown): boolean {
  return error instanceof Fault && error.fault === 'confirmation_required'
}

/**
 * Leads to the page that confirms the session.
 *
 * @param next where to return afterwards: by default the page that was requested, or that of the form that was sent
 */
export function toConfirm(c: Context<HttpEnv>, next?: string): Response {
  const { pathname, search } = new URL(c.req.url)
  const back = next ?? (c.req.method === 'GET' ? pathname + search : pageBefore(c))
  return lead(c, `/console/confirm?next=${encodeURIComponent(back)}`)
}
