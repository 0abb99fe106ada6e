/*
 * The product's Worker with stand-ins for the APIs of vendors behind its fetches: for the last part of npm run demo, and for the benchmark of
 * imports. The Worker is the one that is deployed. It has no setting for another address of a vendor, so Miniflare answers its fetches.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { Item } from '../../test/outside/account.ts'
import { newStripeKey } from '../../test/outside/accounts.ts'
import { hostOf } from '../../test/outside/hosts.ts'
import { outside } from '../../test/outside/outside.ts'
import { type Call, must } from './api.ts'
import { SIGN_IN_LINK } from './server-log.ts'
import { newSigningSecret } from './sign.ts'
import { sleep } from './terminal.ts'
import { bundle, COMPATIBILITY_DATE, LIMITS, migrate, STAND_IN_SECRETS } from './worker-bundle.ts'

export type StandIn = Awaited<ReturnType<typeof openStandIn>>

/** The queues, as wrangler.toml has them. */
export const QUEUES = {
  EVENTS: 'platform-api-events',
  FETCHES: 'platform-api-fetches',
  DELIVERIES: 'platform-api-deliveries',
  SLOW_DELIVERIES: 'platform-api-slow-deliveries',
  WATCHERS: 'platform-api-watchers',
}
/** The longest time in which a code is printed (ms). */
const CODE_WITHIN = 60_000

/**
 * Starts a Worker with an empty database.
 *
 * @param onLine is told of each line that the Worker logs
 */
export async function openStandIn(onLine: (line: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'))
  const codes = new Map<string, string>()
  const note = (message: string) => {
    const [, challenge, code] = SIGN_IN_LINK.exec(message) ?? []
    if (challenge && code) codes.set(challenge, code)
    for (const line of message.split('\n')) onLine(line)
  }
  const miniflare = start(await bundle(), folder, note)
  const stop = async () => {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await miniflare.ready
    const db = await miniflare.getD1Database('DB')
    await migrate(db as never)
    const { port } = await miniflare.unsafeGetDirectURL()
    return { db, stop, url: `http://localhost:${port}`, ...clientOf(`http://localhost:${port}`, codes) }
  } catch (error) {
    await stop()
    throw error
  }
}

function start(script: string, folder: string, note: (message: string) => void): Miniflare {
  const consumer = { maxBatchSize: 100, maxBatchTimeout: 1 }
  return new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: ({ message }: { message: string }) => note(message),
      resourcePersistencePath: folder,
      name: 'own',
      compatibilityDate: COMPATIBILITY_DATE,
      modules: [{ type: 'ESModule', path: 'index.js', contents: script }],
      d1Databases: { DB: 'own' },
      kvNamespaces: ['KV'],
      queueProducers: QUEUES,
      queueConsumers: Object.fromEntries(Object.values(QUEUES).map((name) => [name, consumer])),
      ratelimits: Object.fromEntries(
        LIMITS.map((name, i) => [name, { namespace_id: String(i), simple: { limit: 1_000_000, period: 60 as const } }]),
      ),
      bindings: { ...STAND_IN_SECRETS, SIGN_IN_DELIVERY: 'log', SIGN_UP: 'open' },
      outboundService: outside as never,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    }),
  )
}

function clientOf(url: string, codes: ReadonlyMap<string, string>) {
  /** The API keys of the accounts that were opened. */
  const accounts: string[] = []
  return {
    /** Signs in, makes a project and mints a key. @returns calls of the API with that key */
    newProject: async (name: string) => {
      const { challenge } = await must<{ challenge: string }>(`${url}/auth/codes`, {
        json: { email: 'demo@example.com' },
      })
      const until = Date.now() + CODE_WITHIN
      while (!codes.has(challenge) && Date.now() < until) await sleep(20)
      const { token } = await must<{ token: string }>(`${url}/auth/sessions`, {
        json: { challenge, code: codes.get(challenge) },
      })
      const api = `${url}/platform/v1`
      const { id: project } = await must<{ id: string }>(`${api}/projects`, { token, json: { name } })
      const { secret } = await must<{ secret: string }>(`${api}/api-keys`, { token, project, json: { name: 'key' } })
      const call = <T>(path: string, options: Omit<Call, 'token' | 'project'> = {}) =>
        must<T>(`${api}/${path}`, { token: secret, project, ...options })
      return { project, call }
    },
    /** Connects Stripe, with the key of an account that holds these objects. @returns the id of the connection */
    connectStripe: async (
      call: <T>(path: string, options?: Omit<Call, 'token' | 'project'>) => Promise<T>,
      objects: readonly (Item & { id: string })[],
    ): Promise<string> => {
      const api_key = newStripeKey('live')
      hostOf(api_key).settings = { objects: Object.fromEntries(objects.map((one) => [one.id, one])) }
      const json = { vendor: 'stripe', name: 'Stripe', livemode: true, signing_secret: newSigningSecret('stripe') }
      const { id } = await call<{ id: string }>('billing/connections', { json })
      await call(`billing/connections/${id}/api-key`, { method: 'PUT', json: { api_key } })
      accounts.push(api_key)
      return id
    },
    /** From now on, the accounts take so long (ms) for each answer. */
    answerAfter: (latency_ms: number) => {
      for (const api_key of accounts) Object.assign(hostOf(api_key).settings, { latency_ms })
    },
  }
}
