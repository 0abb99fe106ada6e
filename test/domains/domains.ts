import type { Purpose } from '../../src/domains/schema'
import { call, DIRECTORY, freshKey, newHost, type RequestOptions, seenBy, setHost } from '../harness'
import type { Zone } from '../outside/dns'

export const DOMAINS = '/platform/v1/domains'
export const MARK = '/.well-known/platform-domain'
/** The resolvers that are asked if the deployment names none. */
export const CLOUDFLARE = 'cloudflare-dns.com'
export const GOOGLE = 'dns.google'

/** A name that no other test uses. */
export const newName = () => newHost('plain.dev')
const challenge = (name: string) => `_platform-challenge.${name}`

/** What the name of a domain's record answers from now on: from all resolvers, or from each. */
export async function zone(name: string, zones: Zone | Record<string, Zone>): Promise<void> {
  const isOne = ['records', 'rcode', 'ad', 'trouble'].some((field) => field in zones)
  await setHost(challenge(name), isOne ? { all: zones } : zones)
}

/** A zone with these values. */
export const texts = (...values: string[]): Zone => ({ records: values.map((data) => ({ type: 'TXT', data })) })

/** Publishes the records of domains, which have one name. */
export function publish(...domains: { hostname: string; records: { value: string }[] }[]): Promise<void> {
  return zone(domains[0]?.hostname ?? '', texts(...domains.map(({ records }) => records[0]?.value ?? '')))
}

/** The queries that the resolvers have got for the record of a name. */
export const queriesOf = (name: string) => seenBy(challenge(name))

/** The calls about domains of one caller in a project. */
export function as(project: string, token: string, always: RequestOptions = {}) {
  const ask = (method: string, path: string, options: RequestOptions = {}) =>
    call(DOMAINS + path, { method, project, token, ...always, ...options })
  return {
    add: (hostname: string, purpose: Purpose = 'sso', options?: RequestOptions) =>
      ask('POST', '', { json: { hostname, purpose }, ...options }),
    get: (id: string, options?: RequestOptions) => ask('GET', `/${id}`, options),
    list: (query = '', options?: RequestOptions) => ask('GET', query, options),
    verify: (id: string, options?: RequestOptions) => ask('POST', `/${id}/verify`, options),
    remove: (id: string, options?: RequestOptions) => ask('DELETE', `/${id}`, options),
  }
}

/** A new project, its owner, and the calls with a key that has every scope. */
export async function newApi(always: RequestOptions = {}) {
  const { project, secret, owner } = await freshKey()
  return { project, owner, secret, api: as(project, secret, always) }
}

/** Adds a domain to a project, publishes its record and checks it. */
export async function verified(api: ReturnType<typeof as>, purpose: Purpose = 'sso', name = newName()) {
  const { body: added } = await api.add(name, purpose)
  await publish(added)
  const { body } = await api.verify(added.id)
  if (body.state !== 'verified') throw new Error(`the domain is ${body.state}`)
  return body
}

/** Forgets when a domain was last checked, so that it can be checked again at once. */
export async function forgetCheck(id: string): Promise<void> {
  await DIRECTORY.prepare('UPDATE domains SET checked_at = NULL WHERE id = ?').bind(id).run()
}

/** The actions that the audit log has about a domain, sorted by name: those of one millisecond have no order. */
export async function actionsOf(id: string): Promise<string[]> {
  const { results } = await DIRECTORY.prepare('SELECT action FROM audit_log WHERE object_id = ? ORDER BY action')
    .bind(id)
    .all<{ action: string }>()
  return results.map(({ action }) => action)
}
