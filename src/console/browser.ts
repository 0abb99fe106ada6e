import { getCookie, setCookie } from 'hono/cookie'
import { randomHex } from '../lib/crypto'
import { DAY, SECOND } from '../lib/time'
import type { Visit } from './page'
import { ATTRIBUTES } from './session'

/** The longest that browsers keep a cookie (ms). */
const KEPT = 400 * DAY

/**
 * The cookie `__Host-browser` tells a browser that a user has signed in from before. It is random and gives no access: without
 * it, the user is only sent a notice. It says nothing about the user, so it stays after sign-out.
 */
const COOKIE = 'browser'

/** The cookie of this browser; a new one if it has none. */
export function browserOf(c: Visit): { cookie: string } {
  const cookie = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  return { cookie: cookie !== undefined && /^[0-9a-f]{32}$/.test(cookie) ? cookie : randomHex(16) }
}

/** Gives the browser its cookie. */
export function keepBrowser(c: Visit, { cookie }: { cookie: string }): void {
  setCookie(c, COOKIE, cookie, { ...ATTRIBUTES, maxAge: KEPT / SECOND })
}

/** The colors of the console: the system's, always light, or always dark. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The theme of a text; `system` if it is none. */
export function themeOf(text: string | null | undefined): Theme {
  return THEMES.find((theme) => theme === text) ?? 'system'
}

/** The theme that was chosen in this browser. */
export function themeIn(c: Visit): Theme {
  return themeOf(getCookie(c, 'theme', ATTRIBUTES.prefix))
}

/** Keeps a theme in this browser. */
export function keepTheme(c: Visit, theme: Theme): void {
  setCookie(c, 'theme', theme, { ...ATTRIBUTES, maxAge: KEPT / SECOND })
}

/** How the console shows times: how far away they are, in UTC, or in the zone of the browser. */
export const TIMES = ['relative', 'utc', 'local'] as const
export type Times = (typeof TIMES)[number]

/** The choice of a text; `relative` if it is none. */
export function timesOf(text: string | null | undefined): Times {
  return TIMES.find((times) => times === text) ?? 'relative'
}

/** How times are shown in this browser. */
export function timesIn(c: Visit): Times {
  return timesOf(getCookie(c, 'times', ATTRIBUTES.prefix))
}

/** Keeps how times are shown in this browser. */
export function keepTimes(c: Visit, times: Times): void {
  setCookie(c, 'times', times, { ...ATTRIBUTES, maxAge: KEPT / SECOND })
}

/** What the lists of a project show: both modes, what is live, or what is of test mode. */
export const MODES = ['all', 'live', 'test'] as const
export type Mode = (typeof MODES)[number]

/** The mode of a text; `all` if it is none. */
export function modeOf(text: string | null | undefined): Mode {
  return MODES.find((mode) => mode === text) ?? 'all'
}

/** The mode that was chosen in this browser for a project: the last one that had a choice. Other projects show all. */
export function modeIn(c: Visit, project: string): Mode {
  const [mode, of] = (getCookie(c, 'mode', ATTRIBUTES.prefix) ?? '').split('.')
  return of === project ? modeOf(mode) : 'all'
}

/** Keeps the mode of a project in this browser. */
export function keepMode(c: Visit, project: string, mode: Mode): void {
  setCookie(c, 'mode', `${mode}.${project}`, { ...ATTRIBUTES, maxAge: KEPT / SECOND })
}

/** The groups of the sidebar that were closed in this browser, by their labels. The script keeps them: console.js. */
export function closedGroups(c: Visit): string[] {
  return (getCookie(c, 'closed', ATTRIBUTES.prefix) ?? '').split('.')
}
