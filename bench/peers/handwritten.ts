import { Hono } from 'hono'
import Stripe from 'stripe'
import { counted } from './counted'

/** The webhook handler that people write: verify with Stripe's library, process inline, one insert. */
type Env = { Bindings: { DB: D1Database; SECRET: string } }

const stripe = new Stripe('sk_test_bench')
const crypto = Stripe.createSubtleCryptoProvider()

const app = new Hono<Env>()
  .post('/webhook', async (c) => {
    const { db, log } = counted(c.env.DB, c.req.header('X-Count') !== undefined)
    const signature = c.req.header('Stripe-Signature') ?? ''
    let event: Stripe.Event
    try {
      event = await stripe.webhooks.constructEventAsync(await c.req.text(), signature, c.env.SECRET, undefined, crypto)
    } catch {
      return c.json({ error: 'bad signature' }, 400)
    }
    const object = event.data.object as { id?: string; status?: string }
    await db
      .prepare('INSERT INTO events (id, type, object, status, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .bind(event.id, event.type, object.id ?? null, object.status ?? null, JSON.stringify(event))
      .run()
    log()
    return c.json({ received: true })
  })
  .post('/setup', async (c) => {
    await c.env.DB.prepare(
      'CREATE TABLE events (id TEXT PRIMARY KEY, type TEXT, object TEXT, status TEXT, body TEXT) WITHOUT ROWID',
    ).run()
    return c.json({ ok: true })
  })

export default app
