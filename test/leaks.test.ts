import { expect, it } from 'vitest'
import { sealContext, unseal } from '../src/lib/seal'
import {
  bound,
  call,
  captureConsole,
  deliver,
  failingD1,
  freshAddress,
  mailbox,
  QUEUE,
  recordingQueue,
  settled,
  signStripe,
  storedText,
  stripeEvent,
} from './harness'
import { rows } from './inbox/pipeline'
import { codeIn } from './sessions/signing-in'

const KEYS = '/platform/v1/api-keys'
const CONNECTIONS = '/platform/v1/billing/connections'
const CONSUMERS = '/platform/v1/consumers'
const WEBHOOKS = '/platform/v1/billing/webhooks'

/** The private keys of a project's tokens: only a test opens them. */
async function privateKeys(project: string): Promise<string[]> {
  const sealed = await rows<{ kid: string; key: number; box: string }>(
    'SELECT kid, key, box FROM entitlement_keys WHERE project_id = ? AND box IS NOT NULL',
    project,
  )
  const ring = new Map([[1, Uint8Array.fromBase64(bound.ENCRYPTION_KEY_1 as string) as Uint8Array<ArrayBuffer>]])
  const opened = sealed.map((one) => unseal(ring, one, sealContext(project, one.kid, 'box')))
  return Promise.all(opened)
}

it('leaves no plaintext of a key, session, code, token or signing secret in logs, D1, KV or queue messages', async () => {
  const logged = captureConsole()
  const { EVENTS, sent } = recordingQueue(QUEUE)
  const { EMAIL, mails } = mailbox()
  const bindings = { EVENTS, EMAIL }
  const headers = { 'CF-Connecting-IP': freshAddress() }
  const post = (path: string, json: unknown, extra = {}) =>
    call(path, { method: 'POST', json, headers, bindings, ...extra })

  const secrets: string[] = []
  const keep = (secret: string) => {
    secrets.push(secret)
    return secret
  }
  // Sign in, with a wrong challenge and with the right one.
  const { body: asked } = await post('/auth/codes', { email: 'leaks@example.com' })
  const code = keep(codeIn(mails[0]))
  expect(code).toHaveLength(8)
  await post('/auth/sessions', { challenge: 'chl_other', code })
  const { body: session } = await post('/auth/sessions', { challenge: asked.challenge, code })
  const token = keep(session.token)
  await call('/auth/sessions', { token, bindings })
  // A project, and keys in every state.
  const { body: created } = await post('/platform/v1/projects', { name: 'Leaks' }, { token })
  const project = created.id
  const { body: minted } = await post(KEYS, { name: 'one' }, { token, project })
  keep(minted.secret)
  const { body: rotated } = await post(`${KEYS}/${minted.key.id}/rotate`, undefined, { token, project })
  const secret = keep(rotated.secret)
  for (const tried of [minted.secret, secret]) await call(KEYS, { token: tried, project, bindings })
  await call(KEYS, { token: secret, project: 'prj_other', bindings })
  const asKey = { token: secret, project }
  // A device, whose token is verified, malformed and replaced.
  await call(`${CONSUMERS}/ext:leak`, { ...asKey, method: 'PUT', json: {}, bindings })
  for (const new_token of [false, true]) {
    const json = { platform: 'ios', new_token }
    const path = `${CONSUMERS}/ext:leak/devices/leak`
    const device = keep((await call(path, { ...asKey, method: 'PUT', json, bindings })).body.token)
    for (const sent of [device, `${device}0`]) await post('/platform/v1/devices/verify', { token: sent }, asKey)
  }
  // A key of entitlement tokens, which is rotated, and tokens of it.
  await post('/platform/v1/billing/plans', { key: 'leak', name: 'Leak' }, asKey)
  const tokens = `${CONSUMERS}/ext:leak/entitlements/token`
  keep((await post(tokens, {}, asKey)).body.token)
  secrets.push(...(await privateKeys(project)))
  await post('/platform/v1/billing/entitlement-keys/rotate', {}, { token, project })
  keep((await post(tokens, {}, asKey)).body.token)
  secrets.push(...(await privateKeys(project)))
  await call(`/p/${project}/jwks.json`, { bindings })
  // A connection with two signing secrets, deliveries good and bad, a replay.
  const signing = keep('whsec_the_first_signing_secret_1234')
  const second = keep('whsec_the_second_signing_secret_5678')
  const fields = { vendor: 'stripe', name: 'Stripe', livemode: true, signing_secret: signing }
  const { body: connection } = await post(CONNECTIONS, fields, asKey)
  await post(`${CONNECTIONS}/${connection.id}/secrets`, { signing_secret: second }, asKey)
  const event = stripeEvent()
  const receipt = await deliver(connection.id, event, { secret: signing, bindings })
  await deliver(connection.id, stripeEvent(), { secret: second, bindings })
  await deliver(connection.id, event, { secret: 'whsec_wrong_wrong_wrong', bindings })
  const forged = { 'Stripe-Signature': await signStripe('{}', signing) }
  await call(`/ingest/${connection.id}`, { method: 'POST', body: '[]', headers: forged, bindings })
  const id = receipt.body.event_ids[0]
  await settled(project, secret, id)
  await post(`${WEBHOOKS}/${id}/replay`, undefined, asKey)
  await settled(project, secret, id)
  await call('/platform/v1/audit-log?limit=100', { token, project, bindings })
  // A failure of the database while a secret is in use.
  const broken = { ...bindings, DB: failingD1('D1_ERROR: no') }
  expect((await call(KEYS, { ...asKey, bindings: broken })).status).toBe(503)
  await call(`${KEYS}/${minted.key.id}`, { method: 'DELETE', token, project, bindings })
  await call('/auth/sessions/current', { method: 'DELETE', token, bindings })

  const places = { logs: logged.join('\n'), storage: await storedText(), queue: JSON.stringify(sent) }
  expect(logged.length).toBeGreaterThan(20)
  expect(sent.length).toBeGreaterThan(2)
  expect(places.storage).toContain(event.id) // what is stored is in the text
  for (const [place, text] of Object.entries(places)) {
    // The part after the prefix is as harmful as the whole.
    const bodies = secrets.map((one) => one.replace(/^(svc_v1_|svc_cs_|svc_dv_|whsec_)/, ''))
    expect([place, bodies.filter((one) => text.includes(one))]).toEqual([place, []])
  }
})
