import { expect, it, vi } from 'vitest'
import { call } from './harness'
import { ROUTES } from './routes'

type Document = { servers: { url: string }[] }

it('builds the OpenAPI document once in an isolate, for whatever host it is asked', async () => {
  const schemas = ROUTES.flatMap(({ meta }) => [meta.body, meta.query].filter((schema) => schema !== undefined))
  expect(schemas.length).toBeGreaterThan(10)
  const made = schemas.map((schema) => vi.spyOn(schema, 'toJSONSchema'))
  const calls = () => made.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  const first = await call<Document>('/openapi.json')
  const once = calls()
  expect(once).toBeGreaterThan(0)
  const second = await call<Document>('https://other.test/openapi.json')
  expect(calls()).toBe(once)
  expect([first.body.servers, second.body.servers]).toEqual([
    [{ url: 'https://platform.test' }],
    [{ url: 'https://other.test' }],
  ])
  expect({ ...second.body, servers: [] }).toEqual({ ...first.body, servers: [] })
  expect(Object.keys(first.body)).toEqual(Object.keys(second.body))
})
