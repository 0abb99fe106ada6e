import * as z from 'zod'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { toUnicode } from '../lib/punycode'
import { iso, isoOrNull } from '../lib/time'
import type { DeploymentSettings } from '../settings'
import type { Domain as Row } from './domain'
import { recordName, recordValue } from './names'
import { DOMAIN_STATES, PURPOSES, RECORD_STATUSES } from './schema'

/** Characters of a name as it is sent, in whatever script. */
const MAX_SENT = 300

export const PurposeName = named('DomainPurpose', z.enum(PURPOSES))
export const DomainStateName = named('DomainState', z.enum(DOMAIN_STATES))
const Status = named('RecordStatus', z.enum(RECORD_STATUSES))

export const AddBody = named(
  'AddDomain',
  z.strictObject({
    hostname: z.string().min(1).max(MAX_SENT).describe('The name, in any script. It cannot be changed.'),
    purpose: PurposeName.describe(
      'What it is for: `sso`, email addresses at exactly this name; `surface`, a host that serves pages of the project.',
    ),
  }),
  { hostname: 'example.com', purpose: 'sso' },
)

const Resolver = named(
  'ResolverAnswer',
  z.object({
    name: z.string().describe('The host name of the resolver.'),
    rcode: z.string().describe('The DNS response code, or why there is no usable answer.'),
    authenticated: z.boolean().describe('Whether the resolver has verified the DNSSEC signatures.'),
    values: z.array(z.string()).describe('The first values of the name. Long ones are cut off.'),
  }),
  { name: 'dns.google', rcode: 'NOERROR', authenticated: false, values: ['platform-verify=old'] },
)
const DnsRecord = named(
  'DomainRecord',
  z.object({
    type: z.literal('TXT'),
    name: z.string(),
    value: z.string(),
    status: Status.nullable().describe(
      'The result of the last check: `wrong` if there are only other values, `unreachable` if there was no reliable answer. Null before the first check.',
    ),
    seen: z.array(z.string()).describe('The values that any resolver has returned.'),
    resolvers: z.array(Resolver).describe('What each resolver returned.'),
  }),
  {
    type: 'TXT',
    name: '_platform-challenge.example.com',
    value: 'platform-verify=3f9a1c5e7b2d4f60813a5c7e9b1d3f50',
    status: 'wrong',
    seen: ['platform-verify=old'],
    resolvers: [{ name: 'dns.google', rcode: 'NOERROR', authenticated: false, values: ['platform-verify=old'] }],
  },
)

export const DomainShown = named(
  'Domain',
  z.object({
    id: z.string(),
    hostname: z.string().describe('In lower case, as A-labels (`xn--…`).'),
    display: z.string().describe('The same name in readable form.'),
    purpose: PurposeName,
    state: DomainStateName.describe('In `verified` and `grace`, the project holds the name.'),
    records: z.array(DnsRecord).describe('The records that the DNS must have.'),
    target: z.string().nullable().describe('For a surface, what its CNAME record must point to.'),
    serving: z
      .boolean()
      .nullable()
      .describe('For a surface, whether this service was reached on the host. Null if it has not been checked.'),
    serving_detail: z.string().nullable().describe('Why it was not reached.'),
    verified_at: timestamp.nullable(),
    checked_at: timestamp.nullable(),
    next_check_at: timestamp.nullable().describe('Null if it is no longer checked.'),
    grace_until: timestamp.nullable().describe('When a domain in `grace` fails, unless its record is found again.'),
    created_at: timestamp,
  }),
  {
    id: SAMPLE.domain,
    hostname: 'example.com',
    display: 'example.com',
    purpose: 'sso',
    state: 'pending',
    records: [
      {
        type: 'TXT',
        name: '_platform-challenge.example.com',
        value: 'platform-verify=3f9a1c5e7b2d4f60813a5c7e9b1d3f50',
        status: null,
        seen: [],
        resolvers: [],
      },
    ],
    target: null,
    serving: null,
    serving_detail: null,
    verified_at: null,
    checked_at: null,
    next_check_at: SAMPLE.later,
    grace_until: null,
    created_at: SAMPLE.time,
  },
)

/** A domain as the API shows it. */
export function presentDomain(row: Row, { surfaceTarget }: DeploymentSettings): z.infer<typeof DomainShown> {
  const { status = null, resolvers = [] } = row.evidence ?? {}
  return {
    id: row.id,
    hostname: row.hostname,
    display: toUnicode(row.hostname),
    purpose: row.purpose,
    state: row.state,
    records: [
      {
        type: 'TXT' as const,
        name: recordName(row.hostname),
        value: recordValue(row.token),
        status,
        seen: [...new Set(resolvers.flatMap(({ values }) => values))],
        resolvers,
      },
    ],
    target: row.purpose === 'surface' ? surfaceTarget : null,
    serving: row.serving,
    serving_detail: row.serving_detail,
    verified_at: isoOrNull(row.verified_at),
    checked_at: isoOrNull(row.checked_at),
    next_check_at: isoOrNull(row.next_check_at),
    grace_until: isoOrNull(row.grace_until),
    created_at: iso(row.created_at),
  }
}
