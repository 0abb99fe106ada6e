import { Hono } from 'hono'
import { counted } from './counted'

/** The least that the same binding calls cost: bare Hono routes, raw statements, nothing checked. */
type Env = { Bindings: { DB: D1Database; LIMIT: RateLimit; EVENTS: Queue<unknown> } }

const HASH = 'hash500'
const KEY = 'SELECT id, project_id, scopes, expires_at, created_by, last_used_at, revoked_at FROM keys WHERE hash = ?'
const PAGE = 'SELECT id, project_id, scopes, expires_at, created_by, last_used_at FROM keys ORDER BY hash LIMIT 21'

const app = new Hono<Env>()
  .get('/bare', (c) => c.json({ ok: true }))
  .get('/limit', async (c) => {
    const { success } = await c.env.LIMIT.limit({ key: HASH })
    return c.json({ success })
  })
  .get('/read', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const key = await db.prepare(KEY).bind(HASH).first()
    log()
    return c.json({ key })
  })
  .get('/limit-read', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    await c.env.LIMIT.limit({ key: HASH })
    const key = await db.prepare(KEY).bind(HASH).first()
    log()
    return c.json({ key })
  })
  .get('/limit-batch', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    await c.env.LIMIT.limit({ key: HASH })
    const [key, own] = await db.batch([db.prepare(KEY).bind(HASH), db.prepare(KEY).bind('hash1')])
    log()
    return c.json({ key: key?.results[0], own: own?.results[0] })
  })
  .get('/limit-read-page', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    await c.env.LIMIT.limit({ key: HASH })
    const [key, page] = await db.batch([db.prepare(KEY).bind(HASH), db.prepare(PAGE)])
    log()
    return c.json({ key: key?.results[0], data: page?.results })
  })
  .post('/insert-send', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const id = crypto.randomUUID()
    await db
      .prepare('INSERT INTO events (id, body) VALUES (?, ?)')
      .bind(id, await c.req.text())
      .run()
    await c.env.EVENTS.send({ id })
    log()
    return c.json({ id })
  })
  .post('/limit-batch-send', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    await c.env.LIMIT.limit({ key: HASH })
    const id = crypto.randomUUID()
    await db.batch([
      db
        .prepare('INSERT INTO minutes VALUES (?, 1) ON CONFLICT DO UPDATE SET n = n + 1')
        .bind(Math.floor(Date.now() / 60_000)),
      db.prepare('INSERT INTO indexed VALUES (?, ?, ?, ?)').bind(id, id, 'type', Date.now()),
      db.prepare('INSERT INTO events (id, body) VALUES (?, ?)').bind(id, await c.req.text()),
    ])
    await c.env.EVENTS.send({ id })
    log()
    return c.json({ id })
  })
  .post('/setup', async (c) => {
    await c.env.DB.batch([
      c.env.DB.prepare(
        'CREATE TABLE keys (hash TEXT PRIMARY KEY, id TEXT, project_id TEXT, scopes TEXT, expires_at INTEGER, created_by TEXT, last_used_at INTEGER, revoked_at INTEGER) WITHOUT ROWID',
      ),
      c.env.DB.prepare('CREATE TABLE minutes (minute INTEGER PRIMARY KEY, n INTEGER)'),
      c.env.DB.prepare(
        'CREATE TABLE indexed (id TEXT PRIMARY KEY, vendor_id TEXT, type TEXT, due INTEGER) WITHOUT ROWID',
      ),
      c.env.DB.prepare('CREATE UNIQUE INDEX by_vendor_id ON indexed (vendor_id)'),
      c.env.DB.prepare('CREATE INDEX by_type ON indexed (type, id)'),
      c.env.DB.prepare('CREATE INDEX by_due ON indexed (due) WHERE due IS NOT NULL'),
      c.env.DB.prepare('CREATE TABLE events (id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID'),
      c.env.DB.prepare(
        `WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 1000)
        INSERT INTO keys SELECT 'hash' || n, 'key_' || n, 'prj_1', '["billing:read","projects:read"]', NULL, 'usr_1', 1, NULL FROM g`,
      ),
    ])
    return c.json({ ok: true })
  })

export default app
