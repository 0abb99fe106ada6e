import * as z from 'zod'
import { type Db, openDb } from './db/client'
import { originFrom } from './lib/origin'

/** The bindings of wrangler.toml. Only this file and the entry point name a raw binding. */
export interface Env {
  DB: D1Database
  KV: KVNamespace
  EVENTS: Queue<unknown>
  EMAIL?: SendEmail
  LIMIT_CREDENTIAL: RateLimit
  LIMIT_AUTH_FAILURE: RateLimit
  LIMIT_SIGN_IN: RateLimit
  LIMIT_INGEST: RateLimit
  LIMIT_UNKNOWN_CONNECTION: RateLimit
  SIGN_UP?: string
  SIGN_IN_DELIVERY?: string
  EMAIL_FROM?: string
  PUBLIC_ORIGIN?: string
  CODE_PEPPER?: string
  PAYLOAD_RETENTION_DAYS?: string
  RECORD_RETENTION_DAYS?: string
  REFUSAL_FLUSH_MS?: string
  /** `ENCRYPTION_KEY_1`, `ENCRYPTION_KEY_2`, … : 32 bytes each, base64. */
  [name: `ENCRYPTION_KEY_${number}`]: string
}

const Settings = z.object({
  /** Whether any address may create a user by signing in, or only existing users may sign in. */
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
})

export type Settings = {
  signUp: 'open' | 'invited'
  signInDelivery: 'email' | 'log'
  emailFrom: string
  /** What links begin with; null if the deployment has not set it. */
  publicOrigin: string | null
  codePepper: string
  payloadRetentionDays: number
  recordRetentionDays: number
  refusalFlushMs: number
  /** Keys for encryption at rest by number, 32 bytes each. The highest encrypts; all of them decrypt. */
  encryptionKeys: ReadonlyMap<number, Uint8Array<ArrayBuffer>>
}

/** What the rest of the code receives instead of raw bindings. */
export type Runtime = {
  db: Db
  kv: KVNamespace
  events: Queue<unknown>
  email: SendEmail | null
  /** Callers see these names in `RateLimit`. */
  limits: {
    credential: RateLimit
    auth_failure: RateLimit
    sign_in: RateLimit
    ingest: RateLimit
    unknown_connection: RateLimit
  }
  settings: Settings
  /** Milliseconds since the epoch, read once for each request. */
  now: number
  /** Work that outlives the response. */
  waitUntil: (work: Promise<unknown>) => void
}

/** Opens the runtime of one request, batch or cron run. `db.meter` counts the cost of that one piece of work. */
export function openRuntime(env: Env, ctx: { waitUntil: (work: Promise<unknown>) => void }): Runtime {
  return {
    db: openDb(env.DB),
    kv: env.KV,
    events: env.EVENTS,
    email: env.EMAIL ?? null,
    limits: {
      credential: env.LIMIT_CREDENTIAL,
      auth_failure: env.LIMIT_AUTH_FAILURE,
      sign_in: env.LIMIT_SIGN_IN,
      ingest: env.LIMIT_INGEST,
      unknown_connection: env.LIMIT_UNKNOWN_CONNECTION,
    },
    settings: settingsOf(env),
    now: Date.now(),
    waitUntil: (work) => ctx.waitUntil(work),
  }
}

const parsed = new WeakMap<Env, Settings>()

/** Settings, parsed once for each isolate. A deployment without a required setting fails on its first request. */
function settingsOf(env: Env): Settings {
  const known = parsed.get(env)
  if (known) return known
  const raw = Settings.parse(env)
  const settings: Settings = {
    signUp: raw.SIGN_UP,
    signInDelivery: raw.SIGN_IN_DELIVERY,
    emailFrom: raw.EMAIL_FROM,
    publicOrigin: raw.PUBLIC_ORIGIN,
    codePepper: raw.CODE_PEPPER,
    payloadRetentionDays: raw.PAYLOAD_RETENTION_DAYS,
    recordRetentionDays: raw.RECORD_RETENTION_DAYS,
    refusalFlushMs: raw.REFUSAL_FLUSH_MS,
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
    const bytes = Uint8Array.fromBase64(value) as Uint8Array<ArrayBuffer>
    if (bytes.byteLength !== 32) throw new Error(`${name} must be 32 bytes in base64`)
    keys.set(Number(number), bytes)
  }
  if (keys.size === 0) throw new Error('ENCRYPTION_KEY_1 is missing; set it to 32 random bytes in base64')
  return keys
}
