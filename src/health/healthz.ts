import { Hono } from 'hono'
import * as z from 'zod'
import { type Env, type Runtime, versionId } from '../env'
import { addressOf } from '../http/address'
import { answer } from '../http/answer'
import type { HttpEnv } from '../http/context'
import { count, named } from '../http/fields'
import { requirePublicOrigin } from '../http/origin'
import { limit } from '../http/rate-limit'
import { route } from '../http/route'
import { requireKeys } from '../inbox/connections/sealing'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'
import { MAX_STORE_BYTES } from '../stores/limits'
import { STORE_STATES, storeState } from '../stores/places'
import { readService, type StoreRow } from '../stores/store'
import { isResealPending } from './deployment'
import { HEALTH_AGE_MS, HEALTH_WITHIN_MS } from './limits'

const Store = named(
  'Store',
  z.object({
    number: count,
    state: named('StoreState', z.enum(STORE_STATES)).describe(
      '`opening`: it was added a few minutes ago and does not take projects yet. `closed`: an operator closed it to new projects. `unbound`: this deployment has no binding for it.',
    ),
    size_bytes: count.nullable(),
    limit_bytes: count,
  }),
  { number: 0, state: 'open', size_bytes: 151_552_000, limit_bytes: MAX_STORE_BYTES },
)

/**
 * Health of the deployment: 200 when it is configured, the directory answers in time and has the newest migration, and
 * the encryption keys are the right ones; otherwise 503. It returns the stores as the cron last saw them.
 */
export const healthRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'getHealth',
    summary: 'Check the health of the service',
    description: `Needs no credentials. Returns 503 when the directory does not answer or lacks a migration, when the encryption keys do not open the stored secrets, or when a setting is missing, such as \`PUBLIC_ORIGIN\`. The answer is up to ${HEALTH_AGE_MS / SECOND} seconds old. If a store fails, it is named in \`failing\`, and the projects in other stores are not affected.`,
    tag: 'Service',
    faults: ['encryption_key_unavailable', 'public_origin_missing', 'not_migrated', 'rate_limited'],
    policy: null,
    responses: {
      200: {
        description: 'The service is up and reaches its directory.',
        schema: named(
          'ServiceHealth',
          z.object({
            status: z.literal('ok'),
            version: z.string().nullable().describe('The id of the deployed version; null if the platform gives none.'),
            stores: z.array(Store).describe('As the cron saw them in its last run; none before its first.'),
            failing: z.array(count).describe('The numbers of the stores that failed, or did not answer, in that run.'),
            reseal_pending: z
              .boolean()
              .describe(
                'Whether a store may have secrets that are encrypted with an older `ENCRYPTION_KEY_n`, or that no key opens. False once the cron has found none in any store: then the older key can be removed.',
              ),
          }),
          {
            status: 'ok',
            version: '4c1f7d1e-8f0b-4b8a-9a0e-2f6f3f1c9b55',
            stores: [{ number: 0, state: 'open', size_bytes: 151_552_000, limit_bytes: MAX_STORE_BYTES }],
            failing: [],
            reseal_pending: false,
          },
        ),
      },
    },
  }),
  async (c) => {
    const rt = c.get('rt')
    await limit(rt.limits, 'public', addressOf(c), 'Too many health checks from this address.')
    const rows = await lookTogether(c.env, rt)
    requirePublicOrigin(c)
    const stores = rows.map((row) => present(row, rt))
    const failing = stores.filter(({ state }) => state === 'failing').map(({ number }) => number)
    const sealedUnder = rt.stores.map((store) => rows.find(({ number }) => number === store)?.sealed_under ?? null)
    const reseal_pending = isResealPending(rt, sealedUnder)
    return answer(c, { status: 'ok' as const, version: versionId(), stores, failing, reseal_pending }, 200)
  },
)

/** What an isolate has seen of its deployment, and when (ms). Anybody may ask, so not each request asks the directory. */
const looked = new WeakMap<Env, { at: number; rows: Promise<StoreRow[]> }>()

/** What was seen a moment ago, also a failure; otherwise looks, for all who ask meanwhile. @throws {Fault} as {@link look} */
async function lookTogether(env: Env, rt: Runtime): Promise<StoreRow[]> {
  const last = looked.get(env)
  // The request that looks may end before its look does: whoever waits for it too long looks alone.
  if (last && rt.now - last.at < HEALTH_AGE_MS) return within(HEALTH_WITHIN_MS, last.rows).catch(orLook(rt))
  const rows = look(rt)
  looked.set(env, { at: rt.now, rows })
  rt.waitUntil(rows.catch(() => {}))
  return rows
}

const orLook = (rt: Runtime) => (error: unknown) => {
  if (error instanceof Fault) throw error
  return look(rt)
}

/** @throws {Fault} `database_unavailable`, `not_migrated`, `encryption_key_unavailable` */
async function look(rt: Runtime): Promise<StoreRow[]> {
  const rows = await readService(rt.directory)
  await requireKeys(rt)
  return rows
}

function present(row: StoreRow, rt: { stores: readonly number[]; now: number }): z.infer<typeof Store> {
  const state = storeState(row, rt.stores, rt.now)
  return { number: row.number, state, size_bytes: row.size_bytes, limit_bytes: MAX_STORE_BYTES }
}
