import * as z from 'zod'
import { Fault } from './lib/fault'
import { originFrom } from './lib/origin'

/** Characters. With this many nobody guesses a token, so wrong ones need no limit. */
const MIN_METRICS_TOKEN = 32

/** All of them are asked each time. */
const MAX_RESOLVERS = 4

const Settings = z.object({
  /** Whether any address may create a user by signing in, or only existing users and invited addresses may sign in. */
  SIGN_UP: z.enum(['open', 'invited']).default('invited'),
  /** `log` prints sign-in codes in the terminal. It works only for requests to localhost. */
  SIGN_IN_DELIVERY: z.enum(['email', 'log']).default('email'),
  EMAIL_FROM: z.email().default('sign-in@example.com'),
  /** What links begin with, such as `https://api.example.com`. Without it, only requests to localhost get links. */
  PUBLIC_ORIGIN: z
    .string()
    .default('')
    .refine((text) => text === '' || originFrom(text), 'PUBLIC_ORIGIN must be like https://api.example.com')
    .transform(originFrom),
  /** Keys the hashes of sign-in codes, so that a copy of the database does not help to guess them. */
  CODE_PEPPER: z.string().min(32, 'CODE_PEPPER must be a secret of at least 32 characters'),
  /** How long the payloads of final events are kept, and how long whole records are (days). */
  PAYLOAD_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).default(90),
  RECORD_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).default(400),
  /** After how many days events that were processed or ignored are archived: docs/concepts/webhooks.md says what that means. Empty: never. */
  ARCHIVE_AFTER_DAYS: z
    .union([z.literal(''), z.coerce.number().int().min(30).max(3650)])
    .default('')
    .transform((days) => (days === '' ? null : days)),
  /** How long entries of the audit log are kept (days). */
  AUDIT_RETENTION_DAYS: z.coerce.number().int().min(30).max(3650).default(400),
  /** How long an isolate collects counts of refused deliveries before it writes them (ms). */
  REFUSAL_FLUSH_MS: z.coerce.number().int().min(0).max(25_000).default(10_000),
  /** Who may read /metrics. One that is too short counts as none: a mistake here must not stop the service. */
  METRICS_TOKEN: z
    .string()
    .default('')
    .transform((text) => (text.length >= MIN_METRICS_TOKEN ? text : null)),
  /** Where DNS is asked over HTTPS (RFC 8484): addresses, separated by commas. All are asked, and two must agree. */
  DNS_RESOLVERS: z
    .string()
    .default('https://cloudflare-dns.com/dns-query,https://dns.google/dns-query')
    .transform((text) => text.split(',').map((address) => address.trim()))
    .refine(isListOfResolvers, 'DNS_RESOLVERS must be 1 to 4 addresses that begin with https://, separated by commas'),
  /** The host that the CNAME records of projects' own hosts point to. Without it, the deployment serves none. */
  SURFACE_TARGET: z
    .string()
    .default('')
    .transform((text) => text.toLowerCase())
    .refine((text) => text === '' || isHostname(text), 'SURFACE_TARGET must be a host name like surfaces.example.com')
    .transform((text) => text || null),
  /** Further hosts of the deployment, besides that of PUBLIC_ORIGIN, separated by commas. */
  OTHER_HOSTS: z
    .string()
    .default('')
    .transform(hostnamesFrom)
    .refine((hosts) => hosts.every(isHostname), 'OTHER_HOSTS must be host names, separated by commas'),
})

function isListOfResolvers(addresses: readonly string[]): boolean {
  return addresses.length <= MAX_RESOLVERS && addresses.every((address) => URL.parse(address)?.protocol === 'https:')
}

export type DeploymentSettings = {
  signUp: 'open' | 'invited'
  signInDelivery: 'email' | 'log'
  emailFrom: string
  /** What links begin with; null if the deployment has not set it. */
  publicOrigin: string | null
  codePepper: string
  payloadRetentionDays: number
  recordRetentionDays: number
  /** Null: no event is archived. */
  archiveAfterDays: number | null
  auditRetentionDays: number
  refusalFlushMs: number
  /** The bearer token of /metrics; null if there is none, and so no such path. */
  metricsToken: string | null
  /** The addresses of the DNS resolvers that are asked. */
  dnsResolvers: readonly string[]
  /** The host that projects' own hosts point to; null if this deployment serves none. */
  surfaceTarget: string | null
  /** Hosts of this deployment besides that of `publicOrigin`. */
  otherHosts: readonly string[]
  /** Keys for encryption at rest by number, 32 bytes each. The highest encrypts; all of them decrypt. */
  encryptionKeys: ReadonlyMap<number, Uint8Array<ArrayBuffer>>
}

const parsed = new WeakMap<object, DeploymentSettings>()

/**
 * Settings, parsed once for each isolate.
 *
 * @throws {Fault} `not_configured`, naming each setting that is missing or wrong
 */
export function deploymentSettingsOf(env: object): DeploymentSettings {
  const known = parsed.get(env)
  if (known) return known
  const { data: raw, error } = Settings.safeParse(env)
  if (error) throw notConfigured(error.issues.map(({ path, message }) => `${path.join('.')} (${message})`).join(', '))
  const settings: DeploymentSettings = {
    signUp: raw.SIGN_UP,
    signInDelivery: raw.SIGN_IN_DELIVERY,
    emailFrom: raw.EMAIL_FROM,
    publicOrigin: raw.PUBLIC_ORIGIN,
    codePepper: raw.CODE_PEPPER,
    payloadRetentionDays: raw.PAYLOAD_RETENTION_DAYS,
    recordRetentionDays: raw.RECORD_RETENTION_DAYS,
    archiveAfterDays: raw.ARCHIVE_AFTER_DAYS,
    auditRetentionDays: raw.AUDIT_RETENTION_DAYS,
    refusalFlushMs: raw.REFUSAL_FLUSH_MS,
    metricsToken: raw.METRICS_TOKEN,
    dnsResolvers: raw.DNS_RESOLVERS,
    surfaceTarget: raw.SURFACE_TARGET,
    otherHosts: raw.OTHER_HOSTS,
    encryptionKeys: encryptionKeysOf(env),
  }
  parsed.set(env, settings)
  return settings
}

function encryptionKeysOf(env: object): Map<number, Uint8Array<ArrayBuffer>> {
  const keys = new Map<number, Uint8Array<ArrayBuffer>>()
  for (const [name, value] of Object.entries(env)) {
    const number = /^ENCRYPTION_KEY_([1-9]\d{0,3})$/.exec(name)?.[1]
    if (number === undefined) continue
    const bytes = bytesOf(value)
    if (bytes?.byteLength !== 32) throw notConfigured(`${name} (must be 32 bytes in base64)`)
    keys.set(Number(number), bytes)
  }
  if (keys.size === 0) throw notConfigured('ENCRYPTION_KEY_1 (missing: 32 random bytes in base64)')
  return keys
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(base64) as Uint8Array<ArrayBuffer>
  } catch {
    return null
  }
}

/** @param what the settings that are missing or wrong, with the reason in brackets */
export function notConfigured(what: string): Fault {
  return new Fault(
    'not_configured',
    `Set ${what}. On your own machine, npm start and wrangler dev create local secrets; npm run deploy sets the secrets of a deployment.`,
  )
}

/** Whether a text is a host name as URLs have it: in lower case, with a dot, and without a port. */
export function isHostname(text: string): boolean {
  return URL.parse(`https://${text}/`)?.hostname === text && text.includes('.')
}

/** The names in a list with commas, in lower case. They may be no host names. */
export function hostnamesFrom(list: string): string[] {
  return list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
