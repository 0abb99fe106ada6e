import { sign as signGitHub } from '@octokit/webhooks-methods'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DAY, HOUR, SECOND } from '../../../src/lib/time'
import { STRIPE_SECRET, stripeEvent } from '../../harness'
import { mac } from '../../vendors/harness'
import { advance, keepHouse, rows, stopClock } from '../pipeline'
import { type DiagnosisWorld, diagnosisWorld, STRIPE_AGENT, stripeSigned } from './world'

beforeEach(() => {
  stopClock(Math.ceil(Date.now() / 1000) * 1000)
})
afterEach(() => {
  vi.useRealTimers()
})

const OTHER = 'whsec_of_another_endpoint_0123456789'
const BODY = JSON.stringify(stripeEvent())
const seconds = () => Math.floor(Date.now() / 1000)

/** Adds a secret, and removes the first one. @param how the query of the removal */
async function rotate({ api, connection }: DiagnosisWorld, how = '') {
  const at = `/connections/${connection.id}/secrets`
  expect((await api(at, { method: 'POST', json: { signing_secret: 'whsec_the_new_one_0123' } })).status).toBe(201)
  const old = connection.secrets[0]?.id
  expect((await api(`${at}/${old}${how}`, { method: 'DELETE' })).status).toBe(204)
  return old
}

/** A mistake: what is sent where, and what the diagnosis then says beside the verdict. */
type Mistake = (world: DiagnosisWorld) => Promise<{
  body?: string
  headers: Record<string, string>
  to?: string
  says?: Record<string, unknown>
}>

const MISTAKES: [name: string, verdict: string, Mistake][] = [
  [
    'a clock that is behind',
    'clock',
    async () => ({ headers: await stripeSigned(BODY, STRIPE_SECRET, seconds() - 600), says: { skew_s: 600 } }),
  ],
  [
    'a clock that is ahead',
    'clock',
    async () => ({ headers: await stripeSigned(BODY, STRIPE_SECRET, seconds() + 400), says: { skew_s: -400 } }),
  ],
  [
    'a rotation that ends before the vendor has switched',
    'removed_secret',
    async (world) => {
      const secret_id = await rotate(world)
      return { headers: await stripeSigned(BODY), says: { secret_id, connection_id: null, secrets_tried: 1 } }
    },
  ],
  [
    'the same with a clock that is off',
    'removed_secret',
    async (world) => {
      await rotate(world)
      return { headers: await stripeSigned(BODY, STRIPE_SECRET, seconds() - 900), says: { skew_s: 900 } }
    },
  ],
  [
    'the same with a secret that is to be forgotten',
    'unknown',
    async (world) => {
      await rotate(world, '?forget=true')
      return { headers: await stripeSigned(BODY), says: { secret_id: null } }
    },
  ],
  [
    'the same with a secret that is forgotten after it was removed',
    'unknown',
    async (world) => {
      const at = `/connections/${world.connection.id}/secrets/${await rotate(world)}`
      const forget = () => world.api(`${at}?forget=true`, { method: 'DELETE' })
      expect([(await forget()).status, (await forget()).status]).toEqual([204, 404])
      return { headers: await stripeSigned(BODY), says: { secret_id: null } }
    },
  ],
  [
    'the same three days later',
    'unknown',
    async (world) => {
      await rotate(world)
      advance(72 * HOUR)
      return { headers: await stripeSigned(BODY) }
    },
  ],
  [
    'a proxy that writes JSON anew',
    'body_changed',
    async () => {
      const pretty = JSON.stringify(JSON.parse(BODY), null, 2)
      return { headers: await stripeSigned(pretty), body: BODY, says: { bytes: BODY.length, secrets_tried: 1 } }
    },
  ],
  [
    'a proxy that formats JSON',
    'body_changed',
    async () => ({ headers: await stripeSigned(BODY), body: JSON.stringify(JSON.parse(BODY), null, 4) }),
  ],
  [
    'a proxy that adds a line break',
    'body_changed',
    async () => ({ headers: await stripeSigned(BODY), body: `${BODY}\r\n` }),
  ],
  [
    'a proxy that takes a line break',
    'body_changed',
    async () => ({ headers: await stripeSigned(`${BODY}\n`), body: BODY }),
  ],
  [
    'a proxy that adds a byte order mark',
    'body_changed',
    async () => ({ headers: await stripeSigned(BODY), body: `\ufeff${BODY}` }),
  ],
  [
    'the secret of another endpoint',
    'other_connection',
    async ({ connect }) => {
      const { id } = await connect({ signing_secret: OTHER })
      return { headers: await stripeSigned(BODY, OTHER), says: { connection_id: id, secret_id: null } }
    },
  ],
  [
    'the endpoint of the other mode',
    'mode_mixup',
    async ({ connect }) => {
      const { id } = await connect({ signing_secret: OTHER, livemode: false })
      return { headers: await stripeSigned(BODY, OTHER), says: { connection_id: id } }
    },
  ],
  [
    'a sender of the other connection with a header of its own',
    'other_connection',
    async ({ connect, api }) => {
      const ids: string[] = []
      for (const [preset, signing_secret] of [
        ['line', 'secret_of_line_0123'],
        ['github', 'secret_of_github_0123'],
      ]) {
        const { id } = await connect({ vendor: 'hmac', signing_secret })
        await api(`/connections/${id}/verification`, { method: 'PUT', json: { preset } })
        ids.push(id)
      }
      const signature = await signGitHub('secret_of_github_0123', BODY)
      return {
        headers: { 'X-Hub-Signature-256': signature },
        to: ids[0] ?? '',
        says: { connection_id: ids[1], reason: 'There is no header x-line-signature.' },
      }
    },
  ],
  [
    'the ingest URL at another vendor',
    'other_vendor',
    async () => {
      const h1 = mac('sha256', 'pdl_ntfset_x', 'hex', `${seconds()}:${BODY}`)
      return { headers: { 'Paddle-Signature': `ts=${seconds()};h1=${h1}` }, says: { sender: 'paddle' } }
    },
  ],
  [
    'the ingest URL at one of several vendors with the same header',
    'other_vendor',
    async () => ({ headers: { 'Webhook-Signature': 'v1,AAAA' }, says: { sender: null } }),
  ],
  [
    'the same, which names itself',
    'other_vendor',
    async () => ({
      headers: { 'Webhook-Signature': 'ab', 'User-Agent': 'gocardless-webhook-service/1.1' },
      says: { sender: 'gocardless', headers: ['content-type', 'user-agent', 'webhook-signature'] },
    }),
  ],
  [
    'the ingest URL at GitHub',
    'other_vendor',
    async () => ({
      headers: { 'X-Hub-Signature-256': await signGitHub('secret_of_github', BODY) },
      says: { sender: 'github' },
    }),
  ],
  [
    'a proxy that removes the header',
    'header_missing',
    async () => ({ headers: { 'User-Agent': STRIPE_AGENT }, says: { secrets_tried: 0 } }),
  ],
  [
    'a connection that has no secret yet',
    'not_set_up',
    async ({ connect }) => ({ headers: await stripeSigned(BODY, OTHER), to: (await connect({})).id }),
  ],
  [
    'a sender that is not described yet',
    'not_set_up',
    async ({ connect }) => ({
      headers: { 'X-Mac': 'abc' },
      to: (await connect({ vendor: 'hmac', signing_secret: 'secret_of_the_sender' })).id,
    }),
  ],
  [
    'the SHA-1 signature of GitHub',
    'unknown',
    async ({ connect, api }) => {
      const { id } = await connect({ vendor: 'hmac', signing_secret: 'secret_of_github_0123' })
      await api(`/connections/${id}/verification`, { method: 'PUT', json: { preset: 'github' } })
      const signature = `sha1=${mac('sha1', 'secret_of_github_0123', 'hex', BODY)}`
      return {
        headers: { 'X-Hub-Signature-256': signature },
        to: id,
        says: { code: 'signature_malformed', reason: 'The header does not start with sha256=' },
      }
    },
  ],
  [
    'a secret that is not ours',
    'unknown',
    async ({ connect }) => {
      await connect({ signing_secret: OTHER })
      return {
        headers: await stripeSigned(BODY, 'whsec_of_nobody_that_we_know'),
        says: {
          code: 'signature_mismatch',
          secrets_tried: 2,
          media_type: 'application/json',
          headers: ['content-type', 'stripe-signature', 'user-agent'],
        },
      }
    },
  ],
  [
    'a browser',
    'unknown',
    async () => ({ headers: { 'User-Agent': 'Mozilla/5.0' }, says: { headers: ['content-type', 'user-agent'] } }),
  ],
]

describe('a refused delivery', () => {
  it.each(MISTAKES)('after %s is %s', async (_, verdict, mistake) => {
    const world = await diagnosisWorld()
    const { body = BODY, headers, to, says } = await mistake(world)
    const { status, body: answered } = await world.post(body, headers, to)
    expect(status).toBe(401)
    expect(Object.keys(answered)).toEqual(['type', 'title', 'status', 'detail', 'code', 'request_id'])
    const found = await world.diagnoses(to)
    expect(found).toMatchObject([{ at: new Date().toISOString(), verdict, advice: expect.any(String), ...says }])
  })

  it('keeps no secret, signature, value of a header, address or body', async () => {
    const world = await diagnosisWorld()
    const { post, connection } = world
    await rotate(world)
    const headers = { ...(await stripeSigned(BODY)), Authorization: 'Bearer canary_0123', 'X-Canary': 'canary_0123' }
    await post(BODY, { ...headers, 'CF-Connecting-IP': '192.0.2.77' })
    const stored = JSON.stringify(await rows('SELECT * FROM diagnoses WHERE connection_id = ?', connection.id))
    expect(stored).toContain('stripe-signature')
    const { id } = JSON.parse(BODY)
    const signature = headers['Stripe-Signature'].split('v1=')[1]
    for (const secret of ['canary', 'x-canary', '192.0.2', id, signature, STRIPE_SECRET, STRIPE_AGENT]) {
      expect(stored).not.toContain(secret)
    }
    expect(JSON.stringify(await rows('SELECT * FROM removed_secrets'))).not.toContain(STRIPE_SECRET)
  })

  it('of a body that is too large to hold is told by its time and its headers alone', async () => {
    const { post, diagnoses, connect } = await diagnosisWorld()
    await connect({ signing_secret: OTHER })
    const large = JSON.stringify(stripeEvent('a', { text: 'x'.repeat(70_000) }))
    await post(large, await stripeSigned(large, OTHER))
    expect(await diagnoses()).toMatchObject([{ verdict: 'unknown', secrets_tried: 1, bytes: large.length }])
    advance(10 * SECOND)
    await post(large, await stripeSigned(large, STRIPE_SECRET, seconds() - 1000))
    expect(await diagnoses()).toMatchObject([{ verdict: 'clock', skew_s: 1000 }, { verdict: 'unknown' }])
  })

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('of a body that is nested without end is diagnosed like others: %s', async (open, close) => {
    const { post, diagnoses } = await diagnosisWorld()
    const deep = open.repeat(8000) + (open === '[' ? '' : '1') + close.repeat(8000)
    await post(deep, await stripeSigned(deep, OTHER))
    expect(await diagnoses()).toMatchObject([{ verdict: 'unknown' }])
  })
})

describe('diagnoses', () => {
  it('and removed secrets go with the connection, and after their time', async () => {
    const world = await diagnosisWorld()
    const { post, api, connection, project, connect, diagnoses } = world
    const tables = async () => [
      (await rows('SELECT * FROM diagnoses WHERE project_id = ?', project)).length,
      (await rows('SELECT * FROM removed_secrets WHERE project_id = ?', project)).length,
    ]
    await rotate(world)
    await post(BODY, await stripeSigned(BODY))
    expect(await tables()).toEqual([1, 1])
    expect((await api(`/connections/${connection.id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await tables()).toEqual([0, 0])
    expect((await api(`/connections/${connection.id}/diagnoses`)).status).toBe(404)
    const { id } = await connect({ signing_secret: OTHER })
    await post(BODY, await stripeSigned(BODY), id)
    advance(7 * DAY - SECOND)
    await keepHouse()
    expect(await diagnoses(id)).toHaveLength(1)
    advance(HOUR)
    await keepHouse()
    expect(await tables()).toEqual([0, 0])
  })

  it('are of one connection: not of another project, nor of another connection', async () => {
    const mine = await diagnosisWorld()
    const theirs = await diagnosisWorld()
    const second = await mine.connect({ signing_secret: OTHER })
    // A secret of another project's connection tells nothing.
    await theirs.post(BODY, await stripeSigned(BODY, OTHER))
    expect(await theirs.diagnoses()).toMatchObject([{ verdict: 'unknown', secrets_tried: 1 }])
    expect(await mine.diagnoses(second.id)).toEqual([])
    expect((await theirs.api(`/connections/${second.id}/diagnoses`)).status).toBe(404)
  })

  it('keep the last five removed secrets of a connection', async () => {
    const { api, connection, post, diagnoses } = await diagnosisWorld()
    const at = `/connections/${connection.id}/secrets`
    for (let n = 0; n < 7; n++) {
      const { body } = await api(at, { method: 'POST', json: { signing_secret: `whsec_number_${n}_0123` } })
      const added = body.secrets.at(-1)?.id
      advance(SECOND)
      expect((await api(`${at}/${added}`, { method: 'DELETE' })).status).toBe(204)
    }
    const kept = await rows('SELECT id FROM removed_secrets WHERE connection_id = ?', connection.id)
    expect(kept).toHaveLength(5)
    for (const [n, verdict] of [
      [1, 'unknown'],
      [2, 'removed_secret'],
      [6, 'removed_secret'],
    ] as const) {
      advance(11 * SECOND)
      await post(BODY, await stripeSigned(BODY, `whsec_number_${n}_0123`))
      expect((await diagnoses())[0]).toMatchObject({ verdict })
    }
  })
})
