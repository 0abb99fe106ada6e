import { equalBytes, utf8 } from '../../lib/crypto'
import type { EndpointFacts } from '../../vendors/endpoints'
import type { Connection } from '../connections/connection'

/** A live signing secret of a connection. `text` is null if no encryption key decrypts it. */
export type OpenedSecret = { id: string; text: string | null; used_at: number | null }

/** What endpoints are compared with. */
export type ExpectedEndpoint = Pick<Connection, 'id'> & { url: string; secrets: readonly OpenedSecret[] }

/** An endpoint of ours, with the id of its signing secret. */
export type OwnEndpoint = EndpointFacts & { secret_id: string }

/**
 * The endpoints of an account, sorted. `own`: their secrets are live, so they can be kept; the first is the one to keep. `left`: they are
 * marked as ours, but their secrets are not live: a set-up that did not finish has left them, or somebody has removed the secret.
 */
export type Sorted = { own: OwnEndpoint[]; left: EndpointFacts[] }

/** Sorts endpoints. Endpoints of others are in neither list. */
export function sortEndpoints(endpoints: readonly EndpointFacts[], expected: ExpectedEndpoint): Sorted {
  const own: OwnEndpoint[] = []
  const left: EndpointFacts[] = []
  for (const endpoint of endpoints) {
    const secret_id = secretOf(endpoint, endpoints, expected)
    if (secret_id !== null) own.push({ ...endpoint, secret_id })
    else if (isMarked(endpoint, expected)) left.push(endpoint)
  }
  const rank = (one: EndpointFacts) => Number(one.url !== expected.url) * 2 + Number(!one.enabled)
  return { own: own.sort((a, b) => rank(a) - rank(b) || (a.created_at ?? 0) - (b.created_at ?? 0)), left }
}

/** Whether this service created an endpoint for the connection. */
export function isMarked({ mark }: EndpointFacts, { id }: Pick<ExpectedEndpoint, 'id'>): boolean {
  return mark?.connection === id
}

/** The id of the live secret with which an endpoint of ours signs; null for one that is not ours, or has no such secret. */
function secretOf(endpoint: EndpointFacts, all: readonly EndpointFacts[], expected: ExpectedEndpoint): string | null {
  const { secrets, url } = expected
  const { mark, secret } = endpoint
  if (isMarked(endpoint, expected)) return secrets.find(({ id }) => id === mark?.secret)?.id ?? null
  if (mark !== null || endpoint.url !== url) return null
  if (secret !== null) return secrets.find(({ text }) => text !== null && isSame(text, secret))?.id ?? null
  return provenBy(endpoint, all, expected)
}

/**
 * The vendor does not show the secret. If this is the only endpoint with the address, and a secret has verified a delivery since the endpoint
 * was made, it was this endpoint's.
 */
function provenBy(
  { created_at }: EndpointFacts,
  all: readonly EndpointFacts[],
  { url, secrets }: ExpectedEndpoint,
): string | null {
  if (all.filter((one) => one.url === url).length > 1) return null
  const since = secrets.filter(({ used_at }) => used_at !== null && used_at > (created_at ?? Number.POSITIVE_INFINITY))
  return since.sort((a, b) => (b.used_at ?? 0) - (a.used_at ?? 0))[0]?.id ?? null
}

function isSame(a: string, b: string): boolean {
  return equalBytes(utf8(a), utf8(b))
}
