import { app } from '../../src/app'
import { type RouteEntry, routeTable } from '../../src/http/openapi'
import { type Answer, addMember, call, lossyQueue, ORIGIN, type RequestOptions, STORE, signedIn } from '../harness'
import { nameOf } from '../routes/of-app'
import { PAGE_ROWS } from '../routes/table'
import { newWorld, pathIn, type World } from '../routes/world'

/** All pages of the console, from the app's own route table. */
export const PAGES = routeTable(app).filter(
  ({ path, meta }) => path.startsWith('/console') || path === '/auth/sign-in' || meta.page !== undefined,
)

export type Visit = RequestOptions & { form?: Record<string, string> | URLSearchParams | undefined }

/** Sends a request as a browser would: with the cookie, and a form from the console's own origin. */
export function visit(path: string, token: string | null, { form, headers, ...options }: Visit = {}): Promise<Answer> {
  return call(path, {
    bindings: { EVENTS: lossyQueue().EVENTS },
    ...options,
    headers: {
      ...(token && { Cookie: `other=1; __Host-session=${token}` }),
      ...(form && { Origin: ORIGIN, 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(form && { method: 'POST', body: new URLSearchParams(form).toString() }),
  })
}

/** The page of a consumer with all of its tabs, one after the other. */
export async function consumerTabs(path: string, token: string | null, options: Visit = {}): Promise<string> {
  const tabs = ['access', 'billing', 'events', 'devices', 'history']
  const pages = await Promise.all(tabs.map((tab) => visit(`${path}?tab=${tab}`, token, options)))
  return pages.map(({ text }) => text).join('\n')
}

/** Reads the token in a session's forms from a page. */
export async function formToken(token: string): Promise<string> {
  const { text } = await visit('/console/projects/new', token)
  const found = /name="form_token" value="([0-9a-f]{64})"/.exec(text)?.[1]
  if (!found) throw new Error(`no form token on the page: ${text.slice(0, 300)}`)
  return found
}

/** Submits a form with its token. */
export async function submit(path: string, token: string, fields: Record<string, string> = {}, options: Visit = {}) {
  return visit(path, token, { ...options, form: { form_token: await formToken(token), ...fields } })
}

/** The path of a page in a world, with its parameters filled in. */
export function pageIn(world: World, page: RouteEntry): string {
  return pathIn(world, page.path, PAGE_ROWS[nameOf(page)]?.at)
}

/** A world, and one member of each role. */
export async function newCast() {
  const world = await newWorld()
  return {
    world,
    stranger: (await signedIn()).token,
    viewer: (await addMember(world.project, 'viewer')).token,
    developer: (await addMember(world.project, 'developer')).token,
    admin: (await addMember(world.project, 'admin')).token,
    owner: world.owner.token,
  }
}
export type Cast = Awaited<ReturnType<typeof newCast>>

/** The number of audit rows of a project. A refused form must not add one. */
export async function auditRows(project: string): Promise<number> {
  const row = await STORE.prepare('SELECT count(*) AS n FROM audit_log WHERE project_id = ?')
    .bind(project)
    .first<{ n: number }>()
  return row?.n ?? 0
}
