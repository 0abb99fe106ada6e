import { vendorOf } from '../../vendors'
import { type EndpointFacts, isOldVersion, type VendorEndpoints } from '../../vendors/endpoints'
import { type ExpectedEndpoint, isMarked, sortEndpoints } from './find-own'
import { MAX_KEPT_URL, MAX_KEPT_VERSION, MAX_TYPES_NAMED } from './limits'
import type { EndpointFinding, EndpointResult } from './schema'

/**
 * What is wrong with the endpoint of a connection.
 *
 * @param thin the addresses that thin events are sent to
 */
export function endpointFindings(
  api: VendorEndpoints,
  endpoints: readonly EndpointFacts[],
  expected: ExpectedEndpoint,
  thin: readonly string[] = [],
): EndpointResult & { facts: EndpointFacts | null } {
  const here = endpoints.filter(({ url }) => url === expected.url)
  const sending = here.filter(({ enabled }) => enabled)
  const { own } = sortEndpoints(endpoints, expected)
  const facts = own[0] ?? sending[0] ?? here[0] ?? elsewhere(endpoints, expected)
  if (!facts) {
    const finding = thin.includes(expected.url) ? 'thin_only' : 'endpoint_missing'
    return { facts: null, endpoint: null, findings: [{ finding }] }
  }
  const sent = new Set((sending.length > 0 ? sending : [facts]).flatMap(({ events }) => events))
  const missing = api.all !== null && sent.has(api.all) ? [] : api.needed.filter((type) => !sent.has(type))
  const version = facts.api_version?.slice(0, MAX_KEPT_VERSION) ?? null
  const wrong: (EndpointFinding | false)[] = [
    facts.url !== expected.url && { finding: 'url_differs' },
    !facts.enabled && { finding: 'endpoint_disabled' },
    sending.length > 1 && { finding: 'endpoint_twice', count: sending.length },
    missing.length > 0 && { finding: 'events_missing', events: missing },
    version !== null && isOldVersion(api, version) && { finding: 'api_version_old', version },
  ]
  const { id, url, enabled } = facts
  const endpoint = { id, url: url.slice(0, MAX_KEPT_URL), enabled, api_version: version }
  return { facts, endpoint, findings: wrong.filter((one) => one !== false) }
}

/** An endpoint that sends to another address, though it is meant for the connection: it has our mark, or our path at another host. */
function elsewhere(endpoints: readonly EndpointFacts[], expected: ExpectedEndpoint): EndpointFacts | undefined {
  const { pathname } = new URL(expected.url)
  return (
    endpoints.find((one) => isMarked(one, expected)) ??
    endpoints.find(({ url }) => URL.parse(url)?.pathname === pathname)
  )
}

/** What a finding means, as a sentence. @param vendor its name */
export function consequenceOf({ finding, events = [], version, count = 2 }: EndpointFinding, vendor: string): string {
  switch (finding) {
    case 'endpoint_missing':
      return `${vendor} has no webhook endpoint with the ingest URL of this connection, so no events arrive.`
    case 'thin_only':
      return `${vendor} sends only thin events to this connection. They do not contain their objects, so the service has to fetch each object with the API key.`
    case 'url_differs':
      return `The webhook endpoint at ${vendor} does not send to the ingest URL of this connection, so its events may not arrive.`
    case 'endpoint_disabled':
      return `The webhook endpoint at ${vendor} is disabled, so no events arrive.`
    case 'endpoint_twice':
      return `${count} webhook endpoints at ${vendor} send to this connection, so each event arrives more than once. The service processes each event only once. It refuses deliveries signed with a secret that the connection does not have.`
    case 'events_missing':
      return `${vendor} does not send ${named(events)}, so the billing state lacks the changes in these events.`
    case 'api_version_old':
      return `The webhook endpoint at ${vendor} uses the API version ${version}. Events of this version lack fields that the service reads, so parts of the billing state stay empty.`
  }
}

function named(types: readonly string[]): string {
  const shown = types.slice(0, MAX_TYPES_NAMED)
  const more = types.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more event types`
  const last = shown.at(-1) ?? ''
  return shown.length === 1 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`
}

type CheckedConnection = { name: string; vendor: string; result: EndpointResult | null }

/** What is wrong with the endpoints of connections, as health reasons. Each continues a sentence. */
export function endpointReasons(checked: readonly CheckedConnection[]): string[] {
  return checked.flatMap(({ name, vendor, result }) => {
    const title = vendorOf(vendor)?.endpoints?.vendor ?? vendor
    return (result?.findings ?? []).map(
      (one) => `the connection ${name}: ${reasonOf(consequenceOf(one, title), title)}`,
    )
  })
}

/** A sentence without its full stop, and in lower case unless it begins with the vendor's name. */
function reasonOf(sentence: string, vendor: string): string {
  const begins = sentence.startsWith(vendor) ? sentence.slice(0, 1) : sentence.slice(0, 1).toLowerCase()
  return begins + sentence.slice(1).replace(/\.$/, '')
}
