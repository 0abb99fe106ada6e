import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { Hono } from 'hono'
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

type Auth = ReturnType<typeof open>
let limited: Auth | null = null
let unlimited: Auth | null = null

const app = new Hono<Env>()
  .get('/verify', async (c) => {
    limited ??= open(c.env.DB, WIDE)
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const auth = db === c.env.DB ? limited : open(db, WIDE)
    const { valid, key } = await auth.api.verifyApiKey({ body: { key: c.req.header('X-Api-Key') ?? '' } })
    log()
    return valid ? c.json({ id: key?.id }) : c.json({ error: 'invalid' }, 401)
  })
  .get('/verify-unlimited', async (c) => {
    unlimited ??= open(c.env.DB, { enabled: false })
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const auth = db === c.env.DB ? unlimited : open(db, { enabled: false })
    const { valid, key } = await auth.api.verifyApiKey({ body: { key: c.req.header('X-Api-Key') ?? '' } })
    log()
    return valid ? c.json({ id: key?.id }) : c.json({ error: 'invalid' }, 401)
  })
  // As guides for Workers have it where bindings come with the request.
  .get('/verify-instance', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const { valid, key } = await open(db, WIDE).api.verifyApiKey({ body: { key: c.req.header('X-Api-Key') ?? '' } })
    log()
    return valid ? c.json({ id: key?.id }) : c.json({ error: 'invalid' }, 401)
  })
  .get('/session', async (c) => {
    limited ??= open(c.env.DB, WIDE)
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const auth = db === c.env.DB ? limited : open(db, WIDE)
    const session = await auth.api.getSession({ headers: c.req.raw.headers })
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
