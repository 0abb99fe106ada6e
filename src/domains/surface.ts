import type { MiddlewareHandler } from 'hono'
import { run } from '../db/client'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { ourHosts } from '../http/our-hosts'
import { BoundedMap } from '../lib/bounded-map'
import { Fault } from '../lib/fault'
import { isLocalhost } from '../lib/localhost'
import { HOST_KNOWN_FOR, MAX_KNOWN_HOSTS } from './limits'
import { MARK } from './serving'
import { findSurface } from './surface-store'

type Surface = HttpEnv['Variables']['surface']

/** What this isolate knows of hosts that are not ours, and until when (ms). */
const known = new BoundedMap<string, { surface: Surface; until: number }>(MAX_KNOWN_HOSTS)

/**
 * Finds out whose host a request names, before everything else. On a project's own host, only what its consumers and its
 * vendors need is there. A host that no project holds is treated as ours. The host of the address counts, never a header.
 */
export const hostRouting: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const rt = c.get('rt')
  const { hostname: named, pathname } = new URL(c.req.url)
  const hostname = named.replace(/\.$/, '') // a name with its root is the same host
  const surface = await surfaceOf(rt, hostname)
  c.set('surface', surface)
  if (!surface) return next()
  if (pathname === MARK && c.req.method === 'GET') return c.json({ id: surface.domain_id })
  if (!isServed(pathname, surface.project_id)) throw new Fault('not_found', 'This host has no such page.')
  await next()
}

/** What a project's own host serves. Handlers see to it that it is of this project: `c.get('surface')`. */
function isServed(path: string, projectId: string): boolean {
  return /^\/(sso\/(login|callback)|ingest)\/[^/]+$/.test(path) || path === `/p/${projectId}/jwks.json`
}

async function surfaceOf({ directory, settings, now }: Runtime, hostname: string): Promise<Surface> {
  if (isLocalhost(hostname) || ourHosts(settings).includes(hostname)) return null
  const before = known.get(hostname)
  if (before && before.until > now) return before.surface
  const [surface = null] = await run(directory, findSurface(directory, hostname))
  known.set(hostname, { surface, until: now + HOST_KNOWN_FOR })
  return surface
}
