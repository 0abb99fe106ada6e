import { expect, it, vi } from 'vitest'
import { call } from './harness'
import { ROUTES } from './routes/of-app'

type Document = { servers: { url: string }[] }

it('builds the OpenAPI document once in an isolate, for whatever host it is asked', async () => {
  const schemas = ROUTES.flatMap(({ meta }) => [meta.body, meta.query].filter((schema) => schema !== undefined))
  expect(schemas.length).toBeGreaterThan(10)
  const made = schemas.map((schema) => vi.spyOn(schema, 'toJSONSchema'))
  const calls = () => made.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  const first = await call<Document>('/openapi.json')
  const once = calls()
  expect(once).toBeGreaterThan(0)
  const other = { bindings: { OTHER_HOSTS: 'other.test' } }
  const second = await call<Document>('https://other.test/openapi.json', other)
  expect(calls()).toBe(once)
  // Where PUBLIC_ORIGIN is not set, a server of this machine names itself: the address is not part of what is kept.
  const third = await call<Document>('http://localhost:8787/openapi.json', { bindings: { PUBLIC_ORIGIN: '' } })
  expect(calls()).toBe(once)
  expect([first, second, third].map(({ body }) => body.servers)).toEqual([
    [{ url: 'https://platform.test' }],
    [{ url: 'https://platform.test' }],
    [{ url: 'http://localhost:8787' }],
  ])
  expect({ ...second.body, servers: [] }).toEqual({ ...first.body, servers: [] })
  expect(Object.keys(first.body)).toEqual(Object.keys(second.body))
})

it('makes the bytes and their tag once, and nothing for a request that has them', async () => {
  const first = await call('/openapi.json')
  const etag = first.headers.get('ETag') ?? ''
  const made = vi.spyOn(JSON, 'stringify')
  const hashed = vi.spyOn(crypto.subtle, 'digest')
  const headers = { 'If-None-Match': `W/${etag}` }
  const answers = await Promise.all([call('/openapi.json'), call('/openapi.json', { headers })])
  const documents = made.mock.calls.filter(
    ([value]) => typeof value === 'object' && value !== null && 'openapi' in value,
  )
  expect([documents.length, hashed.mock.calls.length]).toEqual([0, 0])
  expect(answers.map(({ status, text }) => [status, text.length])).toEqual([
    [200, first.text.length],
    [304, 0],
  ])
  for (const { headers: sent } of [first, ...answers])
    expect([sent.get('ETag'), sent.get('Cache-Control')]).toEqual([etag, 'public, max-age=300'])
})
