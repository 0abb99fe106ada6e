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

/** Whether an error says that the session needs its second factor first. */
export function needsPasskey(error: unknown): boolean {
  return error instanceof Fault && error.fault === 'passkey_required'
}

/** Leads to the page where the user proves a second factor, and from there back to the page that was requested. */
export function toSecondFactor(c: Context<HttpEnv>): Response {
  return lead(c, `/console/second-factor?next=${encodeURIComponent(requested(c))}`)
}

/**
 * Leads to the page that confirms the session.
 *
 * @param next where to return afterwards: by default the page that was requested, or that of the form that was sent
 */
export function toConfirm(c: Context<HttpEnv>, next?: string): Response {
  return lead(c, `/console/confirm?next=${encodeURIComponent(next ?? requested(c))}`)
}

/** The page that was requested, or that of the form that was sent. */
function requested(c: Context<HttpEnv>): string {
  const { pathname, search } = URL.parse(c.req.header('HX-Current-URL') ?? '', c.req.url) ?? new URL(c.req.url)
  return c.req.method === 'GET' ? pathname + search : pageBefore(c)
}
