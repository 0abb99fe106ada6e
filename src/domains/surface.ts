import type { MiddlewareHandler } from 'hono'
import { run } from '../db/client'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { isOurs, rootless } from '../http/our-hosts'
import { BoundedMap } from '../lib/bounded-map'
import { Fault } from '../lib/fault'
import { findSurface } from './domain'
import { HOST_KNOWN_FOR, MAX_KNOWN_HOSTS } from './limits'
import { MARK } from './serving'

type Surface = HttpEnv['Variables']['surface']

/** What this isolate knows of hosts that are not ours, and until when (ms). */
const known = new BoundedMap<string, { surface: Surface; until: number }>(MAX_KNOWN_HOSTS)

/**
 * Finds out whose host a request names, before everything else. On a project's own host, only what its consumers and its
 * vendors need is there. A host that no project holds serves nothing: it may still lead here after its project has lost it. Only
 * a deployment that serves no such hosts, or does not know its own, takes any host for its own. The host of the address
 * counts, never a header.
 */
export const hostRouting: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const rt = c.get('rt')
  const { hostname: named, pathname } = new URL(c.req.url)
  const hostname = rootless(named)
  const ours = isOurs(rt.settings, hostname)
  const surface = ours ? null : await surfaceOf(rt, hostname)
  c.set('surface', surface)
  if (!surface && (ours || !knowsItsHosts(rt))) return next()
  if (!surface) throw new Fault('not_found', 'Nothing is served on this host.')
  if (pathname === MARK && c.req.method === 'GET') return c.json({ id: surface.domain_id })
  if (!isServed(pathname, surface.project_id)) throw new Fault('not_found', 'This host has no such page.')
  await next()
}

/** What a project's own host serves. Handlers see to it that it is of this project: `c.get('surface')`. */
function isServed(path: string, projectId: string): boolean {
  return /^\/(sso\/(login|callback)|ingest)\/[^/]+$/.test(path) || path === `/p/${projectId}/jwks.json`
}

function knowsItsHosts({ settings }: Runtime): boolean {
  return settings.publicOrigin !== null && settings.surfaceTarget !== null
}

async function surfaceOf({ directory, now }: Runtime, hostname: string): Promise<Surface> {
  const before = known.get(hostname)
  if (before && before.until > now) return before.surface
  const [surface = null] = await run(directory, findSurface(directory, hostname))
  known.set(hostname, { surface, until: now + HOST_KNOWN_FOR })
  return surface
}
