import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { type Context, Hono } from 'hono'
import { counted } from './counted'

/** better-auth's API key plugin on D1, as its documentation sets it up; its rate limit wide, as everyone's is here. */
type Env = { Bindings: { DB: D1Database } }

const SECRET = 'a secret of the benchmark alone, 32 characters or more'
/** Its own default is ten requests a day for a key: whoever uses it sets his own. */
const WIDE = { enabled: true, timeWindow: 60_000, maxRequests: 1_000_000_000 }

function open(database: D1Database, rateLimit: { enabled: boolean; timeWindow?: number; maxRequests?: number }) {
  return betterAuth({
    database,
    secret: SECRET,
    baseURL: 'http://bench.test',
    telemetry: { enabled: false },
    logger: { disabled: true },
    plugins: [apiKey({ rateLimit, enableSessionForAPIKeys: true })],
  })
}

let shared: ReturnType<typeof open> | null = null

/** Verifies the request's key, with an instance of better-auth that is made for the database of this request. */
async function verified(c: Context<Env>, instance: (db: D1Database) => ReturnType<typeof open>) {
  const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
  const { valid, key } = await instance(db).api.verifyApiKey({ body: { key: c.req.header('X-Api-Key') ?? '' } })
  log()
  return valid ? c.json({ id: key?.id }) : c.json({ error: 'invalid' }, 401)
}

const app = new Hono<Env>()
  .get('/verify', (c) => verified(c, (db) => open(db, WIDE)))
  .get('/verify-unlimited', (c) => verified(c, (db) => open(db, { enabled: false })))
  // One instance for all requests: workerd now and then cancels a request as hung, which waits for another's promise.
  .get('/verify-shared', (c) =>
    verified(c, (db) => {
      if (db !== c.env.DB) return open(db, WIDE) // it counts
      shared ??= open(db, WIDE)
      return shared
    }),
  )
  .get('/session', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const session = await open(db, WIDE).api.getSession({ headers: c.req.raw.headers })
    log()
    return session ? c.json({ id: session.session.id, user: session.user.id }) : c.json({ error: 'invalid' }, 401)
  })
  .post('/setup', async (c) => {
    const auth = open(c.env.DB, WIDE)
    const { runMigrations } = await getMigrations(auth.options)
    await runMigrations()
    const now = new Date().toISOString()
    await c.env.DB.prepare(
      'INSERT INTO user (id, name, email, emailVerified, createdAt, updatedAt) VALUES (?, ?, ?, 1, ?, ?)',
    )
      .bind('usr_1', 'Bench', 'bench@example.com', now, now)
      .run()
    const made = await auth.api.createApiKey({ body: { name: 'bench', userId: 'usr_1' } })
    return c.json({ key: made.key })
  })

export default app
