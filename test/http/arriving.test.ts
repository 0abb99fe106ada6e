import { beforeAll, describe, expect, it, vi } from 'vitest'
import { BODY_DEADLINE } from '../../src/http/limits'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { utf8 } from '../../src/lib/crypto'
import { SECOND } from '../../src/lib/time'
import { advance, stopTimers } from '../clock'
import { type Answer, call, deliverBytes, freshConnection, KEYS, lossyQueue, PROJECTS, stripeEvent } from '../harness'
import { captureLog } from '../inbox/pipeline'
import { until } from '../inbox/receive/until'
import { CROWD, crowd, openBody, stalled } from './arriving'

let world: Awaited<ReturnType<typeof freshConnection>>
beforeAll(async () => {
  world = await freshConnection()
})
const ENDPOINTS = '/platform/v1/webhook-endpoints'
const ingest = () => `/ingest/${world.connection.id}`

describe('a body that stalls', () => {
  it('is refused after 30 seconds, wherever it is sent', async () => {
    expect(BODY_DEADLINE).toBe(30 * SECOND)
    const options = { token: world.owner.token, project: world.project }
    const headers = { 'Content-Type': 'application/json' }
    for (const path of [ingest(), PROJECTS, KEYS, `${KEYS}/${world.key.id}/rotate`]) {
      const answer = await stalled(path, { ...options, headers })
      expect([path, answer.status, answer.body.code]).toEqual([path, 408, 'body_timeout'])
    }
    expect((await call(`${KEYS}/self`, { token: world.secret, project: world.project })).status).toBe(200)
  })

  it('is refused in the same way where a call takes none, and nothing is done', async () => {
    const options = { token: world.owner.token, project: world.project }
    const json = { url: 'https://receiver.acme.com/webhooks', types: ['webhook_event.failed'] }
    const made = await call(ENDPOINTS, { method: 'POST', ...options, json })
    const path = `${ENDPOINTS}/${made.body.endpoint.id}/secrets`
    const answer = await stalled(path, options)
    expect([answer.status, answer.body.code]).toEqual([408, 'body_timeout'])
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error('Network connection lost.')) })
    const incomplete = await call(path, { method: 'POST', ...options, body: cut })
    expect([incomplete.status, incomplete.body.code]).toEqual([400, 'body_incomplete'])
    const endless = openBody(new Uint8Array(100))
    const long = await call(path, { method: 'POST', ...options, body: endless.stream })
    expect([long.status, long.body.code]).toEqual([422, 'validation_failed'])
    expect((await call(`${ENDPOINTS}/${made.body.endpoint.id}`, options)).body.secrets).toHaveLength(1)
  })

  it('is refused on a page of the console too', async () => {
    const headers = { Origin: 'https://platform.test', 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await stalled('/console/sign-in', { headers })).status).toBe(408)
  })
})

describe('a body that arrives in pieces', () => {
  it.each([1, 7, 4096, 16_384, 16_385, 100_000])('of %i bytes is taken as it was sent', async (size) => {
    const length = Math.min(400_000, size * 3000)
    const bytes = utf8(JSON.stringify({ ...stripeEvent(), pad: 'é'.repeat(length / 2) }))
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    )
    const body = openBody(...pieces)
    body.end()
    const { EVENTS } = lossyQueue()
    const sent = await deliverBytes(world.connection.id, bytes, { body: body.stream, bindings: { EVENTS } })
    expect(sent.status, sent.text).toBe(200)
    const path = `/platform/v1/billing/webhooks/${sent.body.event_ids[0]}`
    const { body: event } = await call(path, { token: world.secret, project: world.project })
    expect(event.raw_payload_b64 === bytes.toBase64()).toBe(true)
  })
})

describe('bodies that arrive at once', () => {
  it('are held up to 32 MiB; over that, the oldest makes room', async () => {
    expect(CROWD).toBe(32)
    // Twice, because whoever is refused or done must leave the room that it took.
    for (const round of [1, 2]) {
      const [first, ...others] = await crowd(ingest())
      expect([round, first?.status, first?.body.code]).toEqual([round, 503, 'overloaded'])
      expect(Number(first?.headers.get('Retry-After'))).toBeGreaterThan(0)
      // They are complete, and nobody signed them.
      expect(others.map(({ body }) => body.code)).toEqual(Array(CROWD).fill('signature_missing'))
    }
  })

  it.each([
    ['one connection, from many addresses', (i: number) => ({ at: 0, from: `2001:db8:f:${i.toString(16)}::1` })],
    ['many connections, from one address', (i: number) => ({ at: i % 8, from: '2001:db8:e:1::1' })],
  ])('make room with those of whoever sends the most: %s', async (_, crowded) => {
    const connections = await Promise.all(
      Array.from({ length: 8 }, async () => (await freshConnection()).connection.id),
    )
    const answers: Promise<Answer>[] = []
    const send = async (path: string, bytes: number, from: string) => {
      const body = openBody(new Uint8Array(bytes))
      answers.push(call(path, { method: 'POST', body: body.stream, headers: { 'CF-Connecting-IP': from } }))
      await body.read()
      return body
    }
    // The oldest and slowest of all is somebody else's.
    const bodies = [await send(ingest(), 1000, '2001:db8:d:1::1')]
    for (let i = 0; i < CROWD; i++) {
      const { at, from } = crowded(i)
      bodies.push(await send(`/ingest/${connections[at]}`, MAX_DELIVERY_BYTES, from))
    }
    const refused = await answers[1]
    expect([refused?.status, refused?.body.code]).toEqual([503, 'overloaded'])
    for (const { end } of bodies) end()
    const codes = (await Promise.all(answers)).map(({ body }) => body.code)
    expect(codes).toEqual(codes.map((_, i) => (i === 1 ? 'overloaded' : 'signature_missing')))
  })

  it('do not count when their time is over: the runtime may have ended their requests without a word', async () => {
    stopTimers() // The deadline of a request that was ended never fires.
    try {
      const lost = Array.from({ length: CROWD }, () => openBody(new Uint8Array(MAX_DELIVERY_BYTES)))
      const answers: Promise<Answer>[] = []
      const send = async (body: ReturnType<typeof openBody>) => {
        answers.push(call(ingest(), { method: 'POST', body: body.stream, bindings: { REFUSAL_FLUSH_MS: '0' } }))
        await body.read()
      }
      for (const body of lost) await send(body)
      advance(BODY_DEADLINE + 1)
      const next = openBody(new Uint8Array(MAX_DELIVERY_BYTES))
      await send(next)
      for (const { end } of [...lost, next]) end()
      const codes: string[] = []
      for (const answer of answers) answer.then(({ body }) => codes.push(body.code))
      await until(() => {
        vi.advanceTimersByTime(1) // counts of refused deliveries are written after no time at all
        return codes.length === answers.length
      })
      expect(codes).toEqual(Array(CROWD + 1).fill('signature_missing'))
    } finally {
      vi.useRealTimers()
    }
    const [first] = await crowd(ingest())
    expect(first?.body.code).toBe('overloaded') // what was forgotten is not given back twice
  })
})

describe('a body that is cut off', () => {
  const cutOff = () => {
    let pieces = 0
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          pieces += 1
          if (pieces === 1) controller.enqueue(utf8('{"name":'))
          else controller.error(new TypeError('Network connection lost.'))
        },
      },
      { highWaterMark: 0 },
    )
  }

  it("is the caller's failure, not the server's, and is logged so", async () => {
    const options = { method: 'POST', token: world.owner.token, project: world.project }
    for (const path of [ingest(), PROJECTS, KEYS]) {
      const log = captureLog()
      const headers = { 'Content-Type': 'application/json' }
      const answer = await call(path, { ...options, headers, body: cutOff() })
      expect([path, answer.status, answer.body.code]).toEqual([path, 400, 'body_incomplete'])
      expect(log.of('request')).toMatchObject([{ level: 'info', status: 400, code: 'body_incomplete' }])
      expect(log.of('request')[0]).not.toHaveProperty('error')
    }
  })
})
