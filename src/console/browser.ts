import { getCookie, setCookie } from 'hono/cookie'
import type { PipelineStatus } from '../health/health'
import { randomHex } from '../lib/crypto'
import { DAY, MINUTE, SECOND } from '../lib/time'
import type { Visit } from './page'
import { ATTRIBUTES, type SignedIn } from './session'

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

/** What a cookie of this browser says; null if there is none. */
const kept = (c: Visit, name: string) => getCookie(c, name, ATTRIBUTES.prefix) ?? null

/** Keeps what a cookie of this browser says. @param how.lasts for how long (ms) */
function keep(c: Visit, name: string, value: string, { httpOnly = true, lasts = KEPT } = {}): void {
  setCookie(c, name, value, { ...ATTRIBUTES, httpOnly, maxAge: lasts / SECOND })
}

/** The option that a text names; the first one if it names none. */
function optionOf<T extends string>(options: readonly [T, ...T[]], text: string | null | undefined): T {
  return options.find((option) => option === text) ?? options[0]
}

/** The colors of the console: the system's, always light, or always dark. */
const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The theme of a text; `system` if it is none. */
export const themeOf = (text: string | null | undefined): Theme => optionOf(THEMES, text)
/** The theme that was chosen in this browser. */
export const themeIn = (c: Visit): Theme => themeOf(kept(c, 'theme'))
/** Keeps a theme in this browser. Scripts can read it: the documentation is files, and takes its theme from there (theme.js). */
export const keepTheme = (c: Visit, theme: Theme): void => keep(c, 'theme', theme, { httpOnly: false })

/** How the console shows times: how far away they are, in UTC, or in the zone of the browser. */
const TIMES = ['relative', 'utc', 'local'] as const
export type Times = (typeof TIMES)[number]

/** The choice of a text; `relative` if it is none. */
export const timesOf = (text: string | null | undefined): Times => optionOf(TIMES, text)
/** How times are shown in this browser. */
export const timesIn = (c: Visit): Times => timesOf(kept(c, 'times'))
/** Keeps how times are shown in this browser. */
export const keepTimes = (c: Visit, times: Times): void => keep(c, 'times', times)

/** What the lists of a project show: both modes, what is live, or what is in test mode. */
const MODES = ['all', 'live', 'test'] as const
export type Mode = (typeof MODES)[number]

/** The mode of a text; `all` if it is none. */
export const modeOf = (text: string | null | undefined): Mode => optionOf(MODES, text)

/** The mode that was chosen in this browser for a project: the last one that had a choice. Other projects show all. */
export function modeIn(c: Visit, project: string): Mode {
  const [mode, of] = (kept(c, 'mode') ?? '').split('.')
  return of === project ? modeOf(mode) : 'all'
}

/** Keeps the mode of a project in this browser. */
export const keepMode = (c: Visit, project: string, mode: Mode): void => keep(c, 'mode', `${mode}.${project}`)

/** The lists whose columns can be hidden. */
const LISTS = ['events', 'subscriptions', 'invoices', 'payment-methods', 'purchases'] as const
export type ColumnsOf = (typeof LISTS)[number]

/** The list of a text; `events` if it is none. */
export const listWithColumns = (text: string | null | undefined): ColumnsOf => optionOf(LISTS, text)

/** The columns of a list that are hidden in this browser, by their headings. */
export const hiddenColumns = (c: Visit, list: ColumnsOf): string[] =>
  (kept(c, `without-${list}`) ?? '').split('.').filter(isHeading)

/** Hides columns of a list in this browser. What is no heading was not sent by the menu, and is left out. */
export function hideColumns(c: Visit, list: ColumnsOf, heads: readonly string[]): void {
  keep(c, `without-${list}`, heads.filter(isHeading).slice(0, MOST_COLUMNS).join('.'))
}

const MOST_COLUMNS = 10
const isHeading = (text: string) => /^[A-Za-z ]{1,30}$/.test(text)

/** The groups of the sidebar that were closed in this browser, by their labels. The script keeps them: console.js. */
export function closedGroups(c: Visit): string[] {
  return (kept(c, 'closed') ?? '').split('.')
}

/**
 * What the sidebar says about a project: how its pipeline is, how many failed events need attention, and how many customers have no consumer (`12`, or
 * `99+`).
 */
export type Standing = { status: PipelineStatus; failed: number; unlinked: string }
const STANDING = /^(\w+\.\w+)\.(\d{1,15})\.(ok|degraded|failing)\.(\d{1,12})\.(\d{1,2}\+?)$/
/** For how long it is shown until a new one has loaded (ms). */
const STANDING_LASTS = 5 * MINUTE

/** Who it was shown to, and of which project. */
const standingOf = ({ id, project_id }: SignedIn) => `${id}.${project_id}`

/** What the sidebar last said in this session about its project, if that was a short time ago. */
export function standingIn(c: Visit, user: SignedIn): Standing | null {
  const [, of, at, status, failed, unlinked = '0'] = STANDING.exec(kept(c, 'standing') ?? '') ?? []
  if (of !== standingOf(user) || Math.abs(c.get('rt').now - Number(at)) > STANDING_LASTS) return null
  return { status: status as PipelineStatus, failed: Number(failed), unlinked }
}

/** Keeps what the sidebar says in a session about its project, so that the next page begins with it. */
export function keepStanding(c: Visit, user: SignedIn, { status, failed, unlinked }: Standing): void {
  const value = [standingOf(user), c.get('rt').now, status, failed, unlinked].join('.')
  keep(c, 'standing', value, { lasts: STANDING_LASTS })
}
