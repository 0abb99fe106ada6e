import type { PagePolicy } from '../../src/http/meta'
import type { Role, Scope } from '../../src/lib/access'
import type { FaultName } from '../../src/lib/faults'
import { type Answer, call, freshKey, freshProject, type Json } from '../harness'
import type { World } from './world'

/** What is stated of a route of the API, by hand. The walks over all routes compare the app with it. */
export type Row = {
  who: Who | 'public'
  /** What the last parameter of its path names, if not what the world says for this place. */
  at?: (world: World) => string
  /** A body that is accepted, of a route that takes one. */
  json?: Record<string, unknown>
  /** A query without which it is refused. */
  query?: string
  /** The status of its answer to all this: 200 by default. */
  status?: number
  /** Of a list. */
  list?: List
  /** What it leaves in the audit log. Null: nothing, as a product's own servers do it all day. */
  audit?: Audit | null
  /** For each fault that its documentation names and few other routes have, a request that is refused with it. */
  faults?: Faults
  /** The pages and forms that show or do the same in the console. They need the scope and the role that a session needs here. */
  console?: Record<string, Page>
}
export type Rows = Record<string, Row>

/** Who may call a route. */
export type Who = {
  /** Whether an API key may. */
  key: boolean
  /** Whether a session may, from which role on; null: any signed-in user, whatever the project. */
  session: Role | null | false
  scope: Scope | null
  /** The status for the session of a user who is no member of the project; 403 by default. */
  stranger?: 404
  /** Whether a session must be confirmed. */
  confirmed?: true
}

/** What is changed, and whose id the entry has. */
export type Audit = {
  action: string
  object: (world: World) => string | RegExp
  /** What must have happened before. */
  first?: (world: World) => Promise<unknown>
}

/** A page or a form of the console. What a form leaves in the audit log is what its route leaves, if nothing else is said. */
export type Page = {
  policy?: PagePolicy
  /** The smallest role, if another than the scope needs. */
  role?: Role
  at?: (world: World) => string
  fields?: Record<string, string> | ((world: World) => Record<string, string>)
  /** The status of the answer to its form: 303 by default. */
  status?: number
} & Partial<Audit>

/** The fields of a form in a world. */
export function fieldsIn(world: World, page: Pick<Page, 'fields'> | undefined): Record<string, string> {
  const { fields = {} } = page ?? {}
  return typeof fields === 'function' ? fields(world) : fields
}

/** What a test needs to know of a list. */
export type List = {
  /** Adds rows, one after the other. */
  add: (world: World, n: number) => Promise<void>
  /** What identifies a row; the list is sorted by it. By default its `id`. */
  id?: (row: Json['data'][0]) => string | number
  /** Oldest first: rows that are added while a reader walks the list come at its end. */
  ascending?: true
  /** Queries that filter it: a cursor of the first is refused under every other. */
  filters?: [string, ...string[]]
}

/** For each fault, a request that is refused with it. */
export type Faults = Partial<Record<FaultName, () => Promise<Answer>>>

/** A call that reads: by a key with the scope, or by every member. */
export const read = (scope: Scope): Who => may('viewer', scope)
/** A call by a key with the scope, or by members from this role on. */
export const may = (session: Role, scope: Scope): Who => ({ key: true, session, scope })
/** A call that no key may make, but members from this role on. */
export const people = (session: Role, scope: Scope | null = null): Who => ({ key: false, session, scope })
/** A call of a user on what is the user's own. */
export const OWN: Who = { key: false, session: null, scope: null }

/** Does something several times, one after the other. */
export async function times(n: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < n; i++) await work(i)
}

/** A new project, and the calls of a key with every scope. */
export async function byKey() {
  const world = await freshKey()
  return { ...world, send: sender(world.project, world.secret) }
}

/** A new project, and the calls of its owner. */
export async function byOwner() {
  const world = await freshProject()
  return { ...world, send: sender(world.project, world.owner.token) }
}

function sender(project: string, token: string) {
  return (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    call(path, { method, project, token, headers, ...(json !== undefined && { json }) })
}

/** The page that asks for a confirmation or for fields, and its form. */
export function asks(path: string, form: Page = {}): Record<string, Page> {
  const { policy, role, at } = form
  const page = { ...(policy && { policy }), ...(role && { role }), ...(at && { at }) }
  return { [`GET ${path}`]: page, [`POST ${path}`]: form }
}
