import { type Database, type Db, type Directory, type Meter, openDb, sumOf } from './db/client'
import type { Fault } from './lib/fault'
import { MAX_STORE } from './lib/ids'
import { type DeploymentSettings, deploymentSettingsOf, notConfigured } from './settings'

/** The rate limits. `LIMIT_CREDENTIAL` of wrangler.toml is `credential` here, and callers see that name in `RateLimit`. */
const LIMITS = [
  'credential',
  'auth_failure',
  'sign_in',
  'ingest',
  'unknown_connection',
  'public',
  'project_reads',
  'project_writes',
  'project_costly',
  'caller_writes',
  'caller_costly',
  'user_costly',
  'refresh',
  'vendor',
  'webhook_tests',
  'exposures',
] as const
export type LimitName = (typeof LIMITS)[number]
type LimitBindings = { [N in LimitName as `LIMIT_${Uppercase<N>}`]: RateLimit }
/** Each limit with the name of its binding: made once, because every request opens a runtime. */
const BOUND_LIMITS = LIMITS.map((name) => [name, `LIMIT_${name.toUpperCase() as Uppercase<LimitName>}`] as const)

/** The bindings of wrangler.toml. Only this file and the entry point name a raw binding. */
export interface Env extends LimitBindings {
  /** The directory, and store 0. */
  DB: D1Database
  EVENTS: Queue<unknown>
  /** What vendors' APIs are to be asked for, of all stores. */
  FETCHES: Queue<unknown>
  /** Endpoints that something is to be sent to, of all stores; those that answer slowly are apart. */
  DELIVERIES: Queue<unknown>
  SLOW_DELIVERIES: Queue<unknown>
  /** The projects whose watchers have something to do, of all stores. */
  WATCHERS: Queue<unknown>
  KV: KVNamespace
  EMAIL?: SendEmail
  METRICS?: AnalyticsEngineDataset
  BACKUPS?: R2Bucket
  CF_VERSION_METADATA?: WorkerVersionMetadata
  SIGN_UP?: string
  SIGN_IN_DELIVERY?: string
  EMAIL_FROM?: string
  PUBLIC_ORIGIN?: string
  CODE_PEPPER?: string
  PAYLOAD_RETENTION_DAYS?: string
  RECORD_RETENTION_DAYS?: string
  ARCHIVE_AFTER_DAYS?: string
  AUDIT_RETENTION_DAYS?: string
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
  /** The queue of what vendors' APIs are to be asked for, of all stores. */
  fetches: Queue<unknown>
  /** The queues of endpoints that something is to be sent to, of all stores. */
  deliveries: Queue<unknown>
  slowDeliveries: Queue<unknown>
  /** The queue of projects whose watchers have something to do, of all stores. */
  watchers: Queue<unknown>
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
  limits: Record<LimitName, RateLimit>
  /** Where metrics are written; null where the deployment has no dataset. */
  metrics: AnalyticsEngineDataset | null
  /** Where the cron writes backups; null if the deployment has no bucket: then it writes none. */
  backups: R2Bucket | null
  settings: DeploymentSettings
  /** Milliseconds since the epoch, read once for each request. */
  now: number
  /** Work that outlives the response. */
  waitUntil: (work: Promise<unknown>) => void
}

/** Opens the runtime of one request, batch or cron run. It has entered no store yet. */
export function openRuntime(env: Env, ctx: { waitUntil: (work: Promise<unknown>) => void }): Runtime {
  version = env.CF_VERSION_METADATA?.id ?? null
  const settings = deploymentSettingsOf(env)
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
    fetches: env.FETCHES,
    deliveries: env.DELIVERIES,
    slowDeliveries: env.SLOW_DELIVERIES,
    watchers: env.WATCHERS,
    kv: env.KV,
    email: env.EMAIL ?? null,
    limits: limitsOf(env),
    metrics: env.METRICS ?? null,
    backups: env.BACKUPS ?? null,
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

function limitsOf(env: Env): Record<LimitName, RateLimit> {
  const limits = {} as Record<LimitName, RateLimit>
  for (const [name, binding] of BOUND_LIMITS) limits[name] = env[binding]
  return limits
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
