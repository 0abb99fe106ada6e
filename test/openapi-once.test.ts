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
