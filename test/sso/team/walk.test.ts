import { beforeAll, describe, expect, it } from 'vitest'
import type { RouteEntry } from '../../../src/http/openapi'
import { PAGES, pageIn, visit } from '../../console/visit'
import { addMember, call, DIRECTORY, freshProject, inTurn, lossyQueue } from '../../harness'
import { nameOf, ROUTES } from '../../routes/of-app'
import { newWorld, type World } from '../../routes/world'
import { ssoMember, team } from './team'

/*
 * Every call and page of a project, and every call without one, for each kind of session, while the project enforces its
 * single sign-on and while it does not. The routes are those of the app itself, so a new one is asked without being told.
 */

/** What a session is, and whether it is let in: while nothing is enforced, and while the project enforces its connection. */
const KINDS = {
  'a break-glass owner, by code': { open: 'reaches', enforced: 'reaches' },
  'another owner, by code': { open: 'reaches', enforced: 'sso_required' },
  'an admin, by code': { open: 'reaches', enforced: 'sso_required' },
  'an owner, by passkey': { open: 'reaches', enforced: 'sso_required' },
  'an owner, by the connection': { open: 'reaches', enforced: 'reaches' },
  'an owner, by another connection of the project': { open: 'reaches', enforced: 'sso_required' },
  'an owner, by a connection that the project trusts': { open: 'reaches', enforced: 'sso_required' },
  'an owner, by a connection of another project': { open: 'not_a_member', enforced: 'not_a_member' },
  'an API key': { open: 'reaches', enforced: 'reaches' },
} as const
type Kind = keyof typeof KINDS
const ALL = Object.keys(KINDS) as Kind[]
const isSso = (kind: Kind) => kind.includes('connection')

/** What only owners may do: the admin is refused for the role, but only after the session was let in. */
const OF_OWNERS = /\/break-glass$|^(DELETE|POST) \/platform\/v1\/projects\/:id|^GET .*(\/general\/delete|\/enforce)$/
/** A path parameter that names nothing, so that no call changes what others need. */
const NOTHING = 'x_00000000000000000000000000'

let world: World
let connection: string
const tokens = {} as Record<Kind, string>
/** By session: the ids of the projects that it reaches. */
const within = {} as Record<Kind, string[]>

beforeAll(async () => {
  world = await newWorld()
  const { project, owner } = world
  const own = await team({}, world)
  const [second, trusted, foreign] = [await team({}, world), await team(), await team()]
  connection = own.connection
  const { project: elsewhere } = await freshProject('Elsewhere')
  const become = async (user: string, ...projects: string[]) => {
    // With break-glass access, which counts for sessions by code and passkey alone.
    const owns = DIRECTORY.prepare(
      `INSERT INTO members (project_id, user_id, role, created_at, break_glass) VALUES (?, ?, 'owner', 1, 1)
       ON CONFLICT DO UPDATE SET role = 'owner', break_glass = 1`,
    )
    await DIRECTORY.batch([...projects, elsewhere].map((one) => owns.bind(one, user)))
  }
  const sso = async (of: Awaited<ReturnType<typeof team>>) => {
    const member = await ssoMember(of)
    await become(member.user, project)
    return member.token
  }
  const passkey = await addMember(project, 'owner')
  await DIRECTORY.batch([
    DIRECTORY.prepare('UPDATE sessions SET second_factor_at = 1 WHERE user_id = ?').bind(passkey.user),
    DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE project_id = ? AND user_id = ?').bind(
      project,
      owner.user,
    ),
    DIRECTORY.prepare('UPDATE projects SET settings = ? WHERE id = ?').bind(
      JSON.stringify({ trusted_connections: [trusted.connection] }),
      project,
    ),
  ])
  Object.assign(tokens, {
    'a break-glass owner, by code': owner.token,
    'another owner, by code': world.coOwner.token,
    'an admin, by code': (await addMember(project, 'admin')).token,
    'an owner, by passkey': passkey.token,
    'an owner, by the connection': await sso(own),
    'an owner, by another connection of the project': await sso(second),
    'an owner, by a connection that the project trusts': await sso(trusted),
    'an owner, by a connection of another project': await sso(foreign),
    'an API key': world.secret,
  } satisfies Record<Kind, string>)
  Object.assign(within, {
    'an owner, by the connection': [project],
    'an owner, by another connection of the project': [project],
    'an owner, by a connection that the project trusts': [project, trusted.project],
    'an owner, by a connection of another project': [foreign.project],
  })
})

const STATES = ['open', 'enforced'] as const
const enforce = (state: (typeof STATES)[number]) =>
  DIRECTORY.prepare('UPDATE projects SET sso_enforced_by = ? WHERE id = ?')
    .bind(state === 'enforced' ? connection : null, world.project)
    .run()
const bindings = { EVENTS: lossyQueue().EVENTS }
type Expected = (route: RouteEntry) => string

/** The routes that a kind of session asks: each is asked by three kinds, in turn, or by all in a complete run. */
const inTurnFor = (kind: Kind, routes: readonly RouteEntry[]) =>
  routes.filter((_, nth) => inTurn(ALL, nth, 3).includes(kind))

/** The routes whose answer to a kind of session is another than expected. */
async function wrong(routes: readonly RouteEntry[], ask: (route: RouteEntry) => Promise<string>, expected: Expected) {
  expect(routes.length).toBeGreaterThan(1)
  const found: string[] = []
  for (const route of routes) {
    const was = await ask(route)
    if (was !== expected(route)) found.push(`${nameOf(route)}: ${was}, not ${expected(route)}`)
  }
  return found
}

/** Makes a call with nothing in it. @returns the code of a refusal, or `reaches`: the handler, or the check of its input */
async function ask({ method, path, meta }: RouteEntry, kind: Kind): Promise<string> {
  const ofProject = path.startsWith('/platform/v1/projects/')
  const query = ofProject && method === 'DELETE' ? '?name=another' : ''
  const { status, body } = await call(path.replace(/:(\w+)/g, ofProject ? world.project : NOTHING) + query, {
    method,
    token: tokens[kind],
    project: world.project,
    ...(meta.body && { json: {} }),
    bindings,
  })
  if (body?.code === 'sso_required') expect(body.detail).toContain(startOf(connection))
  // Who is no member of a project in the path does not learn that it is there.
  if (status === 404 && body.detail.startsWith('Project not found')) return 'not_a_member'
  return [401, 403, 429].includes(status) || status >= 500 ? body.code : 'reaches'
}

/** Opens a page, or sends a form without its token. @returns as {@link ask} */
async function open(page: RouteEntry, kind: Kind): Promise<string> {
  const form = page.method === 'POST' ? {} : undefined
  const { status, text, headers } = await visit(pageIn(world, page), tokens[kind], { bindings, form })
  if (text.includes('requires its own single sign-on') && text.includes(startOf(connection))) return 'sso_required'
  if (text.includes('Your role does not allow this')) return 'insufficient_role'
  if (status === 404) return 'not_a_member'
  return status === 200 || /^\/console\/p\//.test(headers.get('Location') ?? '') ? 'reaches' : String(status)
}
const startOf = (id: string) => `/auth/sso/start?connection=${id}`

const policyOf = ({ meta }: RouteEntry) => meta.operation?.policy
const CALLS = ROUTES.filter(({ path }) => path.startsWith('/platform/v1/'))
const OF_PROJECT = CALLS.filter((route) => policyOf(route)?.project !== false || /\/projects\/:id/.test(route.path))
const PAGES_OF_PROJECT = PAGES.filter(({ path }) => path.includes('/:project'))

describe.each(STATES)('a project whose single sign-on is %s', (state) => {
  beforeAll(() => enforce(state))

  /** What a route answers that lets the session in. */
  const beyond = (kind: Kind, route: RouteEntry) => {
    const { actors = ['session'] } = policyOf(route) ?? {}
    if (kind === 'an API key') return actors.includes('api_key') ? 'reaches' : 'console_session_required'
    if (!actors.includes('session')) return 'api_key_required'
    return kind === 'an admin, by code' && OF_OWNERS.test(nameOf(route)) ? 'insufficient_role' : 'reaches'
  }
  const expected =
    (kind: Kind): Expected =>
    (route) =>
      KINDS[kind][state] === 'reaches' ? beyond(kind, route) : KINDS[kind][state]

  it.each(ALL)('answers every call of %s', async (kind) => {
    expect(await wrong(inTurnFor(kind, OF_PROJECT), (route) => ask(route, kind), expected(kind))).toEqual([])
  })

  it.each(ALL.filter((kind) => kind !== 'an API key'))(
    'shows its pages to %s, or refuses pages and forms',
    async (kind) => {
      // What a form does for those who are let in: test/console/roles.test.ts.
      const isLetIn = KINDS[kind][state] === 'reaches'
      const pages = PAGES_OF_PROJECT.filter(({ method }) => method === 'GET' || !isLetIn)
      expect(await wrong(inTurnFor(kind, pages), (page) => open(page, kind), expected(kind))).toEqual([])
    },
  )
})

describe('what belongs to no project', () => {
  const ENDING = ['DELETE /auth/sessions', 'DELETE /auth/sessions/current'] // test/sso/team/reach.test.ts
  const others = ROUTES.filter((route) => policyOf(route)?.project === false && !ENDING.includes(nameOf(route)))
  const SSO = ALL.filter(isSso)

  it.each(SSO)('is closed to %s, unless it is bounded', async (kind) => {
    const bounded: Expected = (route) => (policyOf(route)?.bounded ? 'reaches' : 'sso_session_limited')
    const rest = others.filter((route) => !OF_PROJECT.includes(route))
    expect(await wrong(rest, (route) => ask(route, kind), bounded)).toEqual([])
  })

  it.each(SSO)('shows the projects of %s alone', async (kind) => {
    const { body } = await call('/platform/v1/projects', { token: tokens[kind] })
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(within[kind].sort())
    const { text } = await visit('/console', tokens[kind])
    expect(new Set(text.match(/prj_\w+/g))).toEqual(new Set(within[kind]))
  })
})
