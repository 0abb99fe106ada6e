/*
 * Supabase's stripe-sync-engine as its documentation has it, behind Node's own HTTP server, in a process of its own: it
 * verifies an event and writes its object into PostgreSQL's tables before it answers.
 */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

// Its ES module looks for its migrations by __dirname, which there is not: it finds none, and says nothing.
const engine = createRequire(import.meta.url)(
  '@supabase/stripe-sync-engine',
) as typeof import('@supabase/stripe-sync-engine')
const { DATABASE_URL = '', SECRET = '' } = process.env

await engine.runMigrations({ databaseUrl: DATABASE_URL, schema: 'stripe' })
const sync = new engine.StripeSync({
  poolConfig: { connectionString: DATABASE_URL, max: 10 },
  stripeSecretKey: 'sk_test_bench',
  stripeWebhookSecret: SECRET,
})
const server = createServer(async (request, response) => {
  try {
    const body = Buffer.concat(await request.toArray())
    await sync.processWebhook(body, String(request.headers['stripe-signature']))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"received":true}')
  } catch (error) {
    response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: String(error) }))
  }
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
