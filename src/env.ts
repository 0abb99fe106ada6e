import * as z from 'zod'
import { type Database, type Db, type Directory, type Meter, openDb, sumOf } from './db/client'
import { Fault } from './lib/fault'
import { hostnamesFrom, isHostname } from './lib/hostname'
import { MAX_STORE } from './lib/ids'
import { originFrom } from './lib/origin'

/** The bindings of wrangler.toml. Only this file and the entry point name a raw binding. */
export interface Env {
  /** The directory, and store 0. */
  DB: D1Database
  EVENTS: Queue<unknown>
  KV: KVNamespace
  EMAIL?: SendEmail
  LIMIT_CREDENTIAL: RateLimit
  LIMIT_AUTH_FAILURE: RateLimit
  LIMIT_SIGN_IN: RateLimit
  LIMIT_INGEST: RateLimit
  LIMIT_UNKNOWN_CONNECTION: RateLimit
  LIMIT_PUBLIC: RateLimit
  METRICS?: AnalyticsEngineDataset
  CF_VERSION_METADATA?: WorkerVersionMetadata
  SIGN_UP?: string
  SIGN_IN_DELIVERY?: string
  EMAIL_FROM?: string
  PUBLIC_ORIGIN?: string
  CODE_PEPPER?: string
  PAYLOAD_RETENTION_DAYS?: string
  RECORD_RETENTION_DAYS?: string
  REFUSAL_FLUSH_MS?: string
  METRICS_TOKEN?: string
  DNS_RESOLVERS?: string
  SURFACE_TARGET?: string
  OTHER_HOSTS?: string
  /** `ENCRYPTION_KEY_1`, `ENCRYPTION_KEY_2`, … : 32 bytes each, base64. */
  [name: `ENCRYPTION_KEY_${number}`]: string
  /** Further stores: `STORE_1` and its queue `EVENTS_1`, `STORE_2` and `EVENTS_2`, … */
  [name: `STORE_${number}`]: D1Database
  [name: `EVENTS_${number}`]: Queue<unknown>
}

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

/** What the rest of the code receives instead of raw bindings. */
export type Runtime = {
  /** The database of people: users, sessions, members, and the list of projects with their stores. */
  directory: Directory
  /**
   * The store that this work has entered: the database of the project that it is about, and the Queue of that store.
   * Reading them before `at` throws, because it is a mistake in the code.
   */
  readonly db: Db
  readonly events: Queue<unknown>
  /** The number of that store. Before `at`, it is 0, the number of the directory. */
  store: number
  /** The numbers of the stores that are bound, in their order. */
  stores: readonly number[]
  /** This runtime at a store; null if no such store is bound. */
  at: (store: number) => Runtime | null
  /** What the statements of this work have cost so far, over all databases. */
  cost: () => Meter
  kv: KVNamespace
  email: SendEmail | null
  /** Callers see these names in `RateLimit`. */
  limits: {
    credential: RateLimit
    auth_failure: RateLimit
    sign_in: RateLimit
    ingest: RateLimit
    unknown_connection: RateLimit
    public: RateLimit
  }
  /** Where metrics are written; null where the deployment has no dataset. */
  metrics: AnalyticsEngineDataset | null
  settings: DeploymentSettings
  /** Milliseconds since the epoch, read once for each request. */
  now: number
  /** Work that outlives the response. */
  waitUntil: (work: Promise<unknown>) => void
}

/** Opens the runtime of one request, batch or cron run. It has entered no store yet. */
export function openRuntime(env: Env, ctx: { waitUntil: (work: Promise<unknown>) => void }): Runtime {
  version = env.CF_VERSION_METADATA?.id ?? null
  const settings = settingsOf(env)
  const bound = storesOf(env)
  const opened = new Map<number, Database>()
  // Store 0 and the directory are one object, so that the statements to that database are counted only once.
  const open = (store: number, binding: D1Database) => {
    const db = opened.get(store) ?? openDb<Database>(binding)
    opened.set(store, db)
    return db
  }
  const common = {
    directory: open(0, env.DB) as Directory,
    stores: [...bound.keys()],
    cost: () => sumOf([...opened.values()].map(({ meter }) => meter)),
    kv: env.KV,
    email: env.EMAIL ?? null,
    limits: {
      credential: env.LIMIT_CREDENTIAL,
      auth_failure: env.LIMIT_AUTH_FAILURE,
      sign_in: env.LIMIT_SIGN_IN,
      ingest: env.LIMIT_INGEST,
      unknown_connection: env.LIMIT_UNKNOWN_CONNECTION,
      public: env.LIMIT_PUBLIC,
    },
    metrics: env.METRICS ?? null,
    settings,
    now: Date.now(),
    waitUntil: (work: Promise<unknown>) => ctx.waitUntil(work),
  }
  const at = (store: number): Runtime | null => {
    const bindings = bound.get(store)
    return bindings ? { ...common, at, store, db: open(store, bindings.db) as Db, events: bindings.events } : null
  }
  return {
    ...common,
    at,
    store: 0,
    get db(): Db {
      throw outside()
    },
    get events(): Queue<unknown> {
      throw outside()
    },
  }
}

const outside = () => new Error('enter a store first: rt.at(store)')

type StoreBindings = { db: D1Database; events: Queue<unknown> }
const boundStores = new WeakMap<Env, ReadonlyMap<number, StoreBindings>>()

/**
 * The stores of a deployment by number, in order. They are read once for each isolate.
 *
 * @throws {Fault} `not_configured` if a store lacks its queue
 */
function storesOf(env: Env): ReadonlyMap<number, StoreBindings> {
  const known = boundStores.get(env)
  if (known) return known
  const numbers = Object.keys(env).flatMap((name) => /^STORE_([1-9]\d{0,4})$/.exec(name)?.[1] ?? [])
  const stores = new Map([[0, { db: env.DB, events: env.EVENTS }]])
  for (const store of numbers.map(Number).sort((a, b) => a - b)) {
    if (store > MAX_STORE) throw notConfigured(`STORE_${store} (the highest number of a store is ${MAX_STORE})`)
    const db = env[`STORE_${store}`]
    const events = env[`EVENTS_${store}`]
    if (db === undefined || events === undefined) throw notConfigured(`EVENTS_${store} (the queue of STORE_${store})`)
    stores.set(store, { db, events })
  }
  boundStores.set(env, stores)
  return stores
}

/** For a store that has projects and is not bound. */
export function notBound(store: number): Fault {
  return notConfigured(`STORE_${store} and EVENTS_${store} (the database and queue of store ${store})`)
}

let version: string | null = null

/** The id of the deployed version. An isolate runs one, so it is known once a runtime was opened. */
export function versionId(): string | null {
  return version
}

const parsed = new WeakMap<Env, DeploymentSettings>()

/**
 * Settings, parsed once for each isolate.
 *
 * @throws {Fault} `not_configured`, naming each setting that is missing or wrong
 */
function settingsOf(env: Env): DeploymentSettings {
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

function encryptionKeysOf(env: Env): Map<number, Uint8Array<ArrayBuffer>> {
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
function notConfigured(what: string): Fault {
  return new Fault(
    'not_configured',
    `Set ${what}. On your own machine, npm start and wrangler dev create local secrets; npm run deploy sets the secrets of a deployment.`,
  )
}
