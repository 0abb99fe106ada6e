import { Fault } from '../lib/fault'
import type { Visit } from './page'

/** Characters of a path to continue to. The longest are searches of events. One is stored while a sign-in is under way. */
const MAX_PATH = 2000

/** A path to continue to, such as after sign-in. Anything outside the console becomes the console's start page. */
export function localPath(c: Visit, wanted: string | null | undefined): string {
  if (!wanted || wanted.length > MAX_PATH || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}

/** The page of the console that sent this request, as {@link localPath} of it. */
export function pageBefore(c: Visit): string {
  const { origin } = new URL(c.req.url)
  const referer = c.req.header('Referer') ?? ''
  return localPath(c, referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : null)
}

/** A list's path, with the filters and the page that the visitor has just come from. */
export function asLeft(c: Visit, path: string): string {
  const before = pageBefore(c)
  return before.split('?')[0] === path ? before : path
}

/** Leads the visitor to another page, also from a partial update. */
export function lead(c: Visit, target: string): Response {
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
export function toSecondFactor(c: Visit): Response {
  return lead(c, `/console/second-factor?next=${encodeURIComponent(requested(c))}`)
}

/**
 * Leads to the page that confirms the session.
 *
 * @param next where to return afterwards: by default the page that was requested, or that of the form that was sent
 */
export function toConfirm(c: Visit, next?: string): Response {
  return lead(c, `/console/confirm?next=${encodeURIComponent(next ?? requested(c))}`)
}

/** The page that was requested, or that of the form that was sent. */
function requested(c: Visit): string {
  const { pathname, search } = URL.parse(c.req.header('HX-Current-URL') ?? '', c.req.url) ?? new URL(c.req.url)
  return c.req.method === 'GET' ? pathname + search : pageBefore(c)
}
