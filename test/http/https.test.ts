import { describe, expect, it } from 'vitest'
import { call, countingD1, deliver, freshKey, lossyQueue, ORIGIN, stripeConnection, stripeEvent } from '../harness'

const HOST = new URL(ORIGIN).host
const HSTS = 'Strict-Transport-Security'

describe('plain HTTP', () => {
  it('is refused before a credential is looked at or the database is asked', async () => {
    const { project, secret, owner } = await freshKey()
    const { DB, count } = countingD1()
    for (const token of [secret, owner.token, null]) {
      for (const path of ['/platform/v1/projects', '/auth/sessions', '/healthz', '/openapi.json', '/nothing']) {
        const answer = await call(`http://${HOST}${path}`, { token, project, bindings: { DB } })
        expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'https_required'])
        expect(answer.headers.get('X-Request-Id')).toMatch(/^req_/)
        expect(answer.headers.get(HSTS)).toBeNull()
      }
    }
    expect(count.trips).toBe(0)
  })

  it('is refused for deliveries and sign-in links too, with nothing read', async () => {
    const { project, secret } = await freshKey()
    const { id } = await stripeConnection(secret, project)
    const delivered = await deliver(id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
    expect(delivered.status).toBe(200)
    let pulled = 0
    const pull = () => {
      pulled += 1
    }
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const answer = await call(`http://${HOST}/ingest/${id}`, { method: 'POST', body })
    expect([answer.status, answer.body.code, pulled]).toEqual([403, 'https_required', 0])
    const link = await call(`http://${HOST}/auth/sign-in?challenge=chl_1&code=ABCDEFGH`)
    expect([link.status, link.headers.get('Location')]).toEqual([403, null])
  })

  it.each([
    ['/', '/'],
    ['/errors', '/errors'],
    ['/console', '/console'],
    ['/console/sign-in?next=%2Fconsole', '/console/sign-in?next=%2Fconsole'],
  ])('leads a browser from a page to the same page over https: %s', async (path, target) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await call(`http://${HOST}${path}`, { method })
      expect([answer.status, answer.headers.get('Location')]).toEqual([308, ORIGIN + target])
    }
    expect((await call(`http://${HOST}${path}`, { method: 'POST', body: 'email=x' })).status).toBe(403)
    expect((await call(`http://${HOST}/consoles`)).status).toBe(403)
  })

  it.each(['http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787', 'https://localhost:8787'])(
    'is served on this machine, which no browser is to remember: %s',
    async (origin) => {
      for (const path of ['/healthz', '/console/sign-in']) {
        const answer = await call(origin + path)
        expect([path, answer.status, answer.headers.get(HSTS)]).toEqual([path, 200, null])
      }
    },
  )

  it.each(['http://localhost.example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1', 'http://localhost.'])(
    'is refused under a name like that of this machine: %s',
    async (origin) => {
      expect((await call(`${origin}/healthz`)).status).toBe(403)
    },
  )
})

describe('HTTPS', () => {
  it('is all that a browser uses from then on, whatever it was answered', async () => {
    for (const [path, status] of [
      ['/healthz', 200],
      ['/openapi.json', 200],
      ['/errors', 200],
      ['/', 200],
      ['/nothing', 404],
      ['/platform/v1/projects', 401],
      ['/console', 303],
    ] as const) {
      const answer = await call(path)
      expect([path, answer.status, answer.headers.get(HSTS)]).toEqual([
        path,
        status,
        'max-age=31536000; includeSubDomains',
      ])
    }
  })
})
