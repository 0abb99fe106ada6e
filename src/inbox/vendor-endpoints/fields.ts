import * as z from 'zod'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { iso } from '../../lib/time'
import type { EndpointFacts } from '../../vendors/endpoints'
import { enteredKey } from '../vendor-api/fields'
import { consequenceOf } from './findings'
import { MAX_ACCOUNT_LENGTH, MAX_TYPES_SHOWN, MAX_WRITE_KEY_LENGTH } from './limits'
import { ENDPOINT_FINDINGS, type EndpointFinding } from './schema'

export const SetUpBody = named(
  'SetUpVendorEndpoint',
  z.strictObject({
    api_key: enteredKey(MAX_WRITE_KEY_LENGTH).describe(
      "A key for the vendor's API that may change webhook endpoints. It is used for this call only and not stored.",
    ),
    events: named('VendorEndpointEvents', z.enum(['needed', 'all']))
      .default('needed')
      .describe(
        '`needed`: the event types that become billing state or identify consumers. `all`: every type that the vendor has, if the vendor has a name for that. An endpoint keeps the types that it already sends.',
      ),
    account: z
      .string()
      .max(MAX_ACCOUNT_LENGTH)
      .optional()
      .describe(
        "Which account of the vendor, if the key does not say so. Chargebee: the site, `acme` for acme.chargebee.com. Lemon Squeezy: the store's ID, if the key can reach several stores. Must be absent for other vendors.",
      ),
    dry_run: z
      .boolean()
      .default(false)
      .describe(
        'Changes nothing at the vendor. The response has what the call would do, the endpoint as it is now, and what is wrong with it.',
      ),
  }),
  { api_key: 'rk_live_as_stripe_shows_it' },
)

const Endpoint = named(
  'VendorEndpoint',
  z.object({
    id: z.string().describe("The vendor's own id."),
    url: z.string(),
    status: named('VendorEndpointStatus', z.enum(['enabled', 'disabled'])),
    api_version: z
      .string()
      .nullable()
      .describe("The version of the vendor's API that its events use. Null if the vendor does not say."),
    events: z
      .array(z.string())
      .describe(`The event types that it sends: the first ${MAX_TYPES_SHOWN}. \`*\` stands for all.`),
  }),
)

const Finding = named(
  'VendorEndpointFinding',
  z.object({
    finding: named('VendorEndpointProblem', z.enum(ENDPOINT_FINDINGS)),
    consequence: z.string().describe('What the finding means, as a sentence.'),
    events: z.array(z.string()).describe('For `events_missing`: the event types that are missing.'),
  }),
)

const findings = z.array(Finding).describe('What is wrong with the endpoint.')
const SAMPLE_ENDPOINT = {
  id: 'we_1Abc',
  url: `https://api.example.com/ingest/${SAMPLE.connection}`,
  status: 'enabled' as const,
  api_version: '2026-10-28.endive',
  events: ['customer.subscription.updated', 'invoice.paid'],
}

export const SetUpShown = named(
  'VendorEndpointSetUp',
  z.object({
    did: named('VendorEndpointOutcome', z.enum(['created', 'updated', 'unchanged'])).describe(
      'With `dry_run`: what the call would do. `updated`: the endpoint was repaired, or other endpoints that this service had created were removed.',
    ),
    endpoint: Endpoint.nullable(),
    findings: findings.describe('What is still wrong with the endpoint.'),
  }),
  { did: 'created', endpoint: SAMPLE_ENDPOINT, findings: [] },
)

export const VendorEndpointShown = named(
  'VendorEndpointCheck',
  z.object({
    checked_at: timestamp,
    endpoint: Endpoint.nullable().describe('Null if the vendor has none for this connection.'),
    findings,
  }),
  { checked_at: SAMPLE.time, endpoint: SAMPLE_ENDPOINT, findings: [] },
)

/** An endpoint as the API shows it: never its secret. */
export function presentEndpoint(facts: EndpointFacts | null): z.infer<typeof Endpoint> | null {
  if (!facts) return null
  const { id, url, enabled, api_version, events } = facts
  return { id, url, status: enabled ? 'enabled' : 'disabled', api_version, events: events.slice(0, MAX_TYPES_SHOWN) }
}

/** @param vendor its name */
export function presentFindings(findings: readonly EndpointFinding[], vendor: string): z.infer<typeof Finding>[] {
  return findings.map((one) => ({
    finding: one.finding,
    consequence: consequenceOf(one, vendor),
    events: one.events ?? [],
  }))
}

/** @param now when it was checked (ms) */
export function presentCheck(
  { facts, findings, vendor }: { facts: EndpointFacts | null; findings: readonly EndpointFinding[]; vendor: string },
  now: number,
): z.infer<typeof VendorEndpointShown> {
  return { checked_at: iso(now), endpoint: presentEndpoint(facts), findings: presentFindings(findings, vendor) }
}
