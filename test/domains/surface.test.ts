import { beforeAll, describe, expect, it } from 'vitest'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { advance, stopClock } from '../clock'
import { call, countingD1, DIRECTORY, deliver, signStripe, stripeConnection, stripeEvent } from '../harness'
import { MARK, newApi, newName, verified } from './domains'

/* A project's own host: what it serves, and above all what it does not. */

let project: string
let secret: string
let host: string
let id: string
beforeAll(async () => {
  const made = await newApi()
  ;({ project, secret } = made)
  const domain = await verified(made.api, 'surface')
  ;[host, id] = [`https://${domain.hostname}`, domain.id]
})

it('shows which domain it is', async () => {
  const { status, body } = await call(host + MARK)
  expect({ status, body }).toEqual({ status: 200, body: { id } })
  expect((await call(MARK)).status).toBe(404)
  expect((await call(`${host.replace('https', 'http')}${MARK}`)).status).toBe(403)
})

it('serves no other route, to nobody', async () => {
  const served = /^\/(ingest|sso\/(login|callback))\//
  const others = routeTable(app).filter(({ path }) => !served.test(path) && !path.startsWith('/p/'))
  expect(others.length).toBeGreaterThan(100)
  const paths = new Set(others.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+(\{[^}]*\})?/g, 'x')}`))
  for (const one of [...paths, 'GET /console', 'GET /', 'GET /unknown', 'POST /console/sign-in']) {
    const [method = '', path = ''] = one.split(' ')
    const answer = await call(host + path, { method, token: secret, project })
    expect({ one, status: answer.status }).toEqual({ one, status: 404 })
    expect(answer.headers.get('Set-Cookie')).toBeNull()
  }
})

it('is the host of the address, whatever headers say', async () => {
  const headers = { 'X-Forwarded-Host': 'platform.test', Forwarded: 'host=platform.test', Host: 'platform.test' }
  expect((await call(`${host}/console`, { headers })).status).toBe(404)
  const { hostname } = new URL(host)
  expect((await call('/healthz', { headers: { 'X-Forwarded-Host': hostname } })).status).toBe(200)
  expect((await call(`https://${hostname}./console`)).status).toBe(404)
})

it('takes deliveries to the connections of its project, and to no other', async () => {
  const send = async (connection: { id: string }) => {
    const body = JSON.stringify(stripeEvent())
    const headers = { 'Stripe-Signature': await signStripe(body) }
    return call(`${host}/ingest/${connection.id}`, { method: 'POST', body, headers })
  }
  expect((await send(await stripeConnection(secret, project))).status).toBe(200)
  const other = await newApi()
  const theirs = await stripeConnection(other.secret, other.project)
  expect(await send(theirs)).toMatchObject({ status: 404, body: { code: 'unknown_connection' } })
  expect((await deliver(theirs.id, stripeEvent())).status).toBe(200)
})

describe('the memory of an isolate', () => {
  it('asks once a minute, also for a host that is nobody’s', async () => {
    stopClock()
    for (const address of [`https://${newName()}/openapi.json`, host + MARK]) {
      advance(60_000)
      const { DB, count } = countingD1()
      for (let n = 0; n < 3; n++) expect((await call(address, { bindings: { DB } })).status).toBe(200)
      expect(count).toMatchObject({ trips: 1, rows_written: 0 })
      advance(60_000)
      await call(address, { bindings: { DB } })
      expect(count.trips).toBe(2)
    }
  })

  it('sees the end of a surface, and of a project, within a minute', async () => {
    stopClock()
    const { api, project } = await newApi()
    const [one, two] = [await verified(api, 'surface'), await verified(api, 'surface')]
    const marks = () => Promise.all([one, two].map(async (of) => (await call(`https://${of.hostname}${MARK}`)).status))
    expect(await marks()).toEqual([200, 200])
    await api.remove(one.id)
    advance(60_000)
    expect(await marks()).toEqual([404, 200])
    await DIRECTORY.prepare('UPDATE projects SET deleted_at = 1 WHERE id = ?').bind(project).run()
    advance(60_000)
    expect(await marks()).toEqual([404, 404])
  })
})
