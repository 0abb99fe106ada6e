import { expect } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { sha256Hex } from '../../src/lib/crypto'
import { type Answer, call, lossyQueue, mailbox, type RequestOptions } from '../harness'
import { nameOf, takesBody } from './of-app'
import { ROWS } from './table'
import { pathIn, type World } from './world'

/** The path of a route, its parameters filled in with ids that the world has. */
export function addressIn(world: World, route: RouteEntry): string {
  return pathIn(world, route.path, ROWS[nameOf(route)]?.at)
}

/** A good request to a route: the path, the method, a body where it takes one. The caller adds the credential. */
export function callRoute(
  world: World,
  route: RouteEntry,
  { query, bindings, ...options }: RequestOptions & { query?: string } = {},
): Promise<Answer> {
  const row = ROWS[nameOf(route)]
  const sent = [row?.query, query].filter((part) => part !== undefined).join('&')
  return call(addressIn(world, route) + (sent === '' ? '' : `?${sent}`), {
    method: route.method,
    project: world.project,
    ...(takesBody(route) && options.body === undefined && { json: row?.json }),
    ...options,
    bindings: { EVENTS: lossyQueue().EVENTS, EMAIL: mailbox().EMAIL, ...bindings },
  })
}

/** The statuses that a sample is answered with: a success, or what it states where a sample cannot succeed. */
export function expectSampled(route: RouteEntry, { status, text }: Answer): void {
  const stated = ROWS[nameOf(route)]?.status ?? 200
  if (stated < 300) expect(status, text).toBeLessThan(300)
  else expect(status, text).toBe(stated)
}

const MAKERS = ['POST /platform/v1/api-keys', 'POST /platform/v1/api-keys/:id/rotate']

/** No route but mint and rotate answers with a key's secret, or with its hash. */
export async function expectNoSecret(world: World, route: RouteEntry, { text, headers }: Answer): Promise<void> {
  if (MAKERS.includes(nameOf(route))) return
  const all = text + JSON.stringify([...headers])
  expect(all).not.toMatch(/[0-9a-f]{96}/)
  for (const secret of [world.secret, world.other.secret]) expect(all).not.toContain(await sha256Hex(secret))
}

/** A credential that the route accepts: the owner's session where sessions may call it, else the key. */
export function tokenFor(world: World, { path, meta }: RouteEntry): string | null {
  if (path === '/auth/user') return world.member.token // the only owner of a project cannot delete the account
  const actors = meta.operation?.policy?.actors
  if (!actors) return null
  return actors.includes('session') ? world.owner.token : world.secret
}
