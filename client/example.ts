/*
 * node example.ts URL EMAIL: one round through the API. It asks for the sign-in code that the API sends to the address.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { createClient, type ErrorCode, type Problem } from 'platform-api-client'

const [baseUrl = 'http://localhost:8787', email = 'you@example.com'] = process.argv.slice(2)

/** The body of a successful call. @throws if the API refused it */
function must<T>({ data, error }: { data?: T; error?: Problem }): T {
  if (data !== undefined) return data
  throw new Error(`${error?.code}: ${error?.detail}`)
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(question)
  terminal.close()
  return answer
}

// Sign in.
const visitor = createClient({ baseUrl })
const { challenge } = must(await visitor.POST('/auth/codes', { body: { email } }))
const code = await ask(`Code for ${challenge}: `)
const { token } = must(await visitor.POST('/auth/sessions', { body: { challenge, code } }))

// Make a project. From here on, its id goes with every call.
const project = must(
  await createClient({ baseUrl, token }).POST('/platform/v1/projects', { body: { name: 'Example' } }),
)
const console_ = createClient({ baseUrl, token, projectId: project.id })

// Mint a key, and find it in the list.
const minted = must(
  await console_.POST('/platform/v1/api-keys', {
    body: { name: 'example', scopes: ['api_keys:read', 'api_keys:write', 'billing:read', 'billing:write'] },
  }),
)
const keys = must(await console_.GET('/platform/v1/api-keys', { params: { query: { limit: 100 } } }))
if (!keys.data.some(({ id }) => id === minted.key.id)) throw new Error('the list lacks the new key')

// Rotate it. The old secret stops working at once, and says why.
const rotated = must(
  await console_.POST('/platform/v1/api-keys/{id}/rotate', { params: { path: { id: minted.key.id } } }),
)
const late = await createClient({ baseUrl, token: minted.secret, projectId: project.id }).GET('/platform/v1/api-keys')
const expected: ErrorCode = 'key_rotated'
if (late.error?.code !== expected) throw new Error('the old secret was not refused')

// Connect a vendor and send events as it does. The request is repeated with its key, and makes one connection.
const signingSecret = `whsec_${randomUUID()}`
const connect = {
  params: { header: { 'Idempotency-Key': randomUUID() } },
  body: { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: signingSecret },
} as const
const connection = must(await console_.POST('/platform/v1/billing/connections', connect))
const repeated = must(await console_.POST('/platform/v1/billing/connections', connect))
if (repeated.id !== connection.id) throw new Error('the repeat made another connection')
for (let n = 1; n <= 5; n++) {
  const time = Math.floor(Date.now() / 1000)
  const object = { id: `cus_${n}`, object: 'customer' }
  const event = {
    id: `evt_${randomUUID()}`,
    object: 'event',
    type: 'customer.updated',
    created: time,
    data: { object },
  }
  const payload = JSON.stringify(event)
  const signature = createHmac('sha256', signingSecret).update(`${time}.${payload}`).digest('hex')
  must(
    await visitor.POST('/ingest/{connection_id}', {
      params: { path: { connection_id: connection.id } },
      headers: { 'Stripe-Signature': `t=${time},v1=${signature}` },
      body: payload,
      bodySerializer: (body) => body,
    }),
  )
}

// Search with the key, two events a page, to the last page.
const server = createClient({ baseUrl, token: rotated.secret, projectId: project.id })
const found: string[] = []
for (let cursor: string | null | undefined; cursor !== null; ) {
  const query = { event_type: 'customer.*', livemode: false, limit: 2, ...(cursor && { cursor }) }
  const page = must(await server.GET('/platform/v1/billing/webhooks/search', { params: { query } }))
  found.push(...page.data.map(({ id }) => id))
  cursor = page.next_cursor
}
if (found.length !== 5) throw new Error(`found ${found.length} of 5 events`)

// Read the lag, and replay an event.
const lag = must(
  await server.GET('/platform/v1/billing/webhooks/lag-timeseries', { params: { query: { bucket: '1h' } } }),
)
const received = lag.data.reduce((sum, point) => sum + point.received, 0)
const preview = await server.POST('/platform/v1/billing/webhooks/{event_id}/replay', {
  params: { path: { event_id: found[0] ?? '' }, query: { dry_run: true } },
})
const replayed = must(
  await server.POST('/platform/v1/billing/webhooks/{event_id}/replay', {
    params: { path: { event_id: found[0] ?? '' } },
  }),
)
if (preview.response.status !== 200 || !('replay' in replayed)) throw new Error('the event was not replayed')

// Revoke the key.
const revoked = await console_.DELETE('/platform/v1/api-keys/{id}', { params: { path: { id: minted.key.id } } })
if (revoked.response.status !== 204) throw new Error('the key was not revoked')

console.log(`Done: ${found.length} events found, ${received} counted, ${replayed.replay.event_id} replayed.`)
