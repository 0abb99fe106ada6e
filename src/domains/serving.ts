import type { Runtime } from '../env'
import { ourHosts } from '../http/our-hosts'
import { fetchOutside, OutsideRefusal } from '../lib/fetch-outside'
import type { Domain } from './domain'

/** The path by which this service recognizes itself behind a project's host. */
export const MARK = '/.well-known/platform-domain'

/** Whether this service serves a host. `serving_detail`: why not. */
export type Serving = Pick<Domain, 'serving' | 'serving_at' | 'serving_detail'>

/**
 * Whether to look if this service serves the host of a domain: it is a surface that the project holds, and this deployment
 * serves surfaces.
 */
export function isToServe({ settings }: Runtime, { purpose, state }: Pick<Domain, 'purpose' | 'state'>): boolean {
  return settings.surfaceTarget !== null && purpose === 'surface' && (state === 'verified' || state === 'grace')
}

/** Fetches the host from outside, as a browser would: DNS, TLS and routing must all work for it to answer with the domain's id. */
export async function lookAtHost({ settings, now }: Runtime, { hostname, id }: Domain): Promise<Serving> {
  const detail = await wrongWith(`https://${hostname}${MARK}`, id, ourHosts(settings))
  return { serving: detail === null, serving_at: now, serving_detail: detail }
}

async function wrongWith(address: string, id: string, ours: readonly string[]): Promise<string | null> {
  try {
    const response = await fetchOutside(address, { ours, accept: ['application/json'] })
    if (response.status !== 200) return `The host answered with status ${response.status}.`
    const shown = await response.json<{ id?: unknown }>()
    return shown?.id === id ? null : 'The host answered with the id of another domain.'
  } catch (error) {
    return error instanceof OutsideRefusal ? error.message : 'The host answered with something other than this service.'
  }
}
