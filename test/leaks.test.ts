import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { call, deliver, freshAddress, settled, signStripe, stripeEvent } from './harness'

/** Everything stored, as one text: every row of every table, and every key and value of KV. */
async function storage(): Promise<string> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
  ).all<{ name: string }>()
  const dumps: string[] = []
  for (const { name } of results) {
    const table = await env.DB.prepare(`SELECT * FROM "${name}"`).all()
    dumps.push(name, JSON.stringify(table.results))
  }
  const { keys } = await env.KV.list()
  for (const { name } of keys) dumps.push(name, (await env.KV.get(name)) ?? '')
  return dumps.join('\n')
}

it('leaves no plaintext of a key, session, code or signing secret in logs, D1, KV or queue messages', async () => {
  const logged: string[] = []
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...parts) => {
      logged.push(parts.map(String).join(' '))
    })
  }
  const sent: unknown[] = []
  const EVENTS = {
    sendBatch: async (messages: Iterable<MessageSendRequest>) => {
      for (const { body } of messages) sent.push(body)
      return env.EVENTS.sendBatch(messages)
    },
    send: async (body: unknown) => {
      sent.push(body)
      return env.EVENTS.send(body)
    },
  } as unknown as Queue
  const mails: string[] = []
  const EMAIL = {
    send: async (mail: { text: string }) => {
      mails.push(mail.text)
      return { messageId: 'x' }
    },
  } as unknown as SendEmail
  const bindings = { EVENTS, EMAIL }
  const headers = { 'CF-Connecting-IP': freshAddress() }
  const post = (path: string, json: unknown, extra = {}) =>
    call(path, { method: 'POST', json, headers, bindings, ...extra })

  const secrets: string[] = []
  const keep = (secret: string) => {
    secrets.push(secret)
    return secret
  }
  // Sign in, wrongly and rightly.
  const { body: asked } = await post('/auth/codes', { email: 'leaks@example.com' })
  const code = keep(/code is (\w{8})/.exec(mails[0] ?? '')?.[1] ?? '')
  expect(code).toHaveLength(8)
  await post('/auth/sessions', { challenge: 'chl_other', code })
  const { body: session } = await post('/auth/sessions', { challenge: asked.challenge, code })
  const token = keep(session.token)
  await call('/auth/sessions', { token, bindings })
  // A project, keys in every state.
  const { body: created } = await post('/platform/v1/projects', { name: 'Leaks' }, { token })
  const project = created.id as string
  const minted = await post('/platform/v1/api-keys', { name: 'one' }, { token, project })
  keep(minted.body.secret)
  const rotated = await post(`/platform/v1/api-keys/${minted.body.key.id}/rotate`, undefined, { token, project })
  const secret = keep(rotated.body.secret)
  for (const tried of [minted.body.secret, secret])
    await call('/platform/v1/api-keys', { token: tried, project, bindings })
  await call('/platform/v1/api-keys', { token: secret, project: 'prj_other', bindings })
  // A connection, its deliveries good and bad, a second signing secret, a replay.
  const signing = keep('whsec_the_first_signing_secret_1234')
  const second = keep('whsec_the_second_signing_secret_5678')
  const { body: connection } = await post(
    '/platform/v1/billing/connections',
    { vendor: 'stripe', name: 'Stripe', signing_secret: signing },
    { token: secret, project },
  )
  await post(
    `/platform/v1/billing/connections/${connection.id}/secrets`,
    { signing_secret: second },
    { token: secret, project },
  )
  const event = stripeEvent()
  const receipt = await deliver(connection.id, event, { secret: signing, bindings })
  await deliver(connection.id, stripeEvent(), { secret: second, bindings })
  await deliver(connection.id, event, { secret: 'whsec_wrong_wrong_wrong', bindings })
  const signature = await signStripe('{}', signing)
  await call(`/ingest/${connection.id}`, {
    method: 'POST',
    body: '[]',
    headers: { 'Stripe-Signature': signature },
    bindings,
  })
  const [id] = receipt.body.event_ids
  await settled(project, secret, id)
  await post(`/platform/v1/billing/webhooks/${id}/replay`, undefined, { token: secret, project })
  await settled(project, secret, id)
  await call('/platform/v1/audit-log?limit=100', { token, project, bindings })
  // A failure of ours while a secret is at hand.
  const DB = {
    prepare: () => {
      throw new Error('D1_ERROR: no')
    },
  } as unknown as D1Database
  expect((await call('/platform/v1/api-keys', { token: secret, project, bindings: { ...bindings, DB } })).status).toBe(
    503,
  )
  await call(`/platform/v1/api-keys/${minted.body.key.id}`, { method: 'DELETE', token, project, bindings })
  await call('/auth/sessions/current', { method: 'DELETE', token, bindings })
  vi.restoreAllMocks()

  const places = { logs: logged.join('\n'), storage: await storage(), queue: JSON.stringify(sent) }
  expect(logged.length).toBeGreaterThan(20)
  expect(sent.length).toBeGreaterThan(2)
  expect(places.storage).toContain(event.id) // the dump does see what is stored
  for (const [place, text] of Object.entries(places)) {
    // The body of a secret alone would do harm too.
    const found = secrets.filter(
      (one) => text.includes(one) || text.includes(one.replace(/^(svc_v1_|svc_cs_|whsec_)/, '')),
    )
    expect([place, found]).toEqual([place, []])
  }
})
