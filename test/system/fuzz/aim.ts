import { signedHeaders } from '../../../scripts/lib/sign.ts'
import { isParameter } from './operations.ts'
import type { Wire } from './send.ts'
import type { Caller, Shot } from './shots.ts'
import type { Value } from './values.ts'
import type { Tenant } from './world.ts'

/**
 * The tenant that makes changes, the tenant that only reads, sessions of the first that may end, and sessions of users
 * who have no other.
 */
export type World = { url: string; own: Tenant; other: Tenant; spare: string[]; alone: string[]; keys: string[] }

/** `foreign`: strings that the response must not contain. `trespasses`: the request names another tenant's object. */
export type Aimed = { wire: Wire; foreign: string[]; trespasses: boolean }

/** Turns a shot into the request to send, with the current ids and secrets. */
export async function aim(world: World, shot: Shot): Promise<Aimed> {
  const caller = callerOf(shot)
  const theirs = caller.startsWith('other')
  const method = theirs && !['GET', 'HEAD'].includes(shot.method) ? 'GET' : shot.method
  const headers: Record<string, string> = Object.fromEntries(shot.headers)
  const token = tokenOf(world, caller, shot)
  if (token !== null) headers.Authorization = `Bearer ${token}`
  const project = projectOf(world, shot.project, theirs)
  if (project !== null) headers['X-Project-Id'] = project
  const body = method === 'GET' || method === 'HEAD' ? null : bytesOf(shot)
  const path = targetOf(world, shot)
  const delivery = shot.operation.template.startsWith('/ingest') && body && shot.signed
  if (delivery) Object.assign(headers, await signature(world, shot, body))
  if (body) headers['Content-Length'] = String(body.byteLength)
  const wire = { method, path, headers, body }
  const known = token !== null && caller !== 'made-up'
  const tenants = known ? [theirs ? world.own : world.other] : [world.own, world.other]
  const trespasses = !theirs && shot.parameters.some((value) => typeof value !== 'string' && value.ref === 'other')
  return { wire, foreign: tenants.flatMap((tenant) => traces(tenant, wire)), trespasses }
}

/** Strings that no other tenant may see: the tenant's mark, and its ids except those that the request itself names. */
function traces({ mark, ids }: Tenant, { path, headers, body }: Wire): string[] {
  const named = `${path} ${JSON.stringify(headers)} ${body ?? ''}`
  const own = Object.entries(ids).flatMap(([pool, some]) => (pool === 'cursor' ? [] : some))
  return [mark, ...own.filter((id) => !named.includes(id))]
}

/** A request that ends a session uses a spare one, because the main session is needed for all other requests. */
function callerOf({ caller, operation, method }: Shot): Caller {
  const ends = operation.template.startsWith('/auth/sessions') && method === 'DELETE'
  if (!ends || (caller !== 'session' && caller !== 'spare')) return caller
  return operation.template === '/auth/sessions' ? 'alone' : 'spare' // it ends all sessions of its user
}

function tokenOf({ own, other, spare, alone, keys }: World, caller: Caller, { vendor }: Shot): string | null {
  switch (caller) {
    case 'session':
      return own.token
    case 'spare':
      return spare[vendor % spare.length] ?? own.token
    case 'alone':
      return alone[vendor % alone.length] ?? null
    case 'key':
      return keys[vendor % keys.length] ?? own.key
    case 'other-session':
      return other.token
    case 'other-key':
      return other.key
    case 'anonymous':
      return null
    case 'made-up':
      return (
        [
          'svc_v1_',
          'svc_v1_zz',
          `svc_cs_${'0'.repeat(64)}`,
          'x',
          `${own.key.slice(0, -1)}${own.key.endsWith('0') ? '1' : '0'}`,
        ][vendor % 5] ?? 'x'
      )
  }
}

function projectOf({ own, other }: World, project: Shot['project'], theirs: boolean): string | null {
  if (project === 'none') return null
  if (project === 'made-up') return 'prj_00000000000000000000000000'
  return (project === 'own') === theirs ? other.project : own.project
}

function targetOf(world: World, { operation, parameters, query, vendor, signed }: Shot): string {
  let next = 0
  const parts = operation.segments.map((segment) => {
    if (!isParameter(segment)) return segment
    const value = parameters[next++] ?? ''
    if (operation.template.startsWith('/ingest') && signed && typeof value !== 'string' && value.ref === 'own') {
      return world.own.inboxes[vendor]?.connection ?? ''
    }
    return encoded(look(world, value))
  })
  const pairs = query.map(([name, value]) => `${encoded(name)}=${encoded(look(world, value))}`)
  return `/${parts.join('/')}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

function look({ own, other }: World, value: Value): string {
  if (typeof value === 'string') return value
  const pool = (value.ref === 'own' ? own : other).ids[value.pool] ?? []
  return pool[value.index % Math.max(1, pool.length)] ?? 'none'
}

/** Percent-encodes a string but leaves `%` raw, so that invalid escapes are tried too. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%25', '%').slice(0, 2000)
}

function bytesOf({ body }: Shot): Buffer<ArrayBuffer> | null {
  switch (body.kind) {
    case 'none':
      return null
    case 'json':
      return Buffer.from(JSON.stringify(body.value) ?? '')
    case 'bytes':
      return Buffer.from(body.base64, 'base64')
    case 'large':
      return Buffer.from(`"${'x'.repeat(body.size - 2)}"`)
  }
}

async function signature({ own, url }: World, { vendor }: Shot, body: Buffer<ArrayBuffer>) {
  const inbox = own.inboxes[vendor]
  if (!inbox) return {}
  const to = `${url}/ingest/${inbox.connection}`
  return signedHeaders(inbox.vendor, { body, secret: inbox.secret, url: to, name: 'fuzz', now: Date.now() })
}
