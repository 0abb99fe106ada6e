import { describe, expect, it } from 'vitest'
import { IDEMPOTENT_CALLS } from '../../src/idempotency/calls'
import { call, lossyQueue, storedTables } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld } from '../routes/world'

/** Which calls take Idempotency-Key: one table says it, and routes, documentation and refusals follow it. */

const api = Object.values(
  import.meta.glob<string>('../../docs/reference/api.md', { query: '?raw', import: 'default', eager: true }),
)[0] as string
const HEADER = { 'Idempotency-Key': 'key' }
const POSTS = ROUTES.filter(({ method }) => method === 'POST')
const idOf = ({ meta }: (typeof POSTS)[number]) => meta.operation?.id ?? ''
const taking = POSTS.filter((route) => IDEMPOTENT_CALLS[idOf(route)])
const refusing = POSTS.filter((route) => !IDEMPOTENT_CALLS[idOf(route)] && !route.meta.operation?.rawBody)

const REPEATS = {
  object: 'the object',
  new_secret: 'the object with a [new secret](#repeating-a-call-that-returns-a-secret)',
  refusal: '409 `secret_not_replayable`',
}

it('is stated by the route of each call in the table, and of no other', () => {
  expect(taking.map(idOf).sort()).toEqual(Object.keys(IDEMPOTENT_CALLS).sort())
  expect(ROUTES.filter(({ meta }) => meta.operation?.repeated).map(nameOf)).toEqual(taking.map(nameOf))
})

it('docs/reference/api.md lists exactly the calls that take it, with what a repeat returns', () => {
  const [, section = ''] = /## Repeating a request\n(.*?)\n### /s.exec(api) ?? []
  const listed = section.split('\n').filter((line) => line.startsWith('| `'))
  const expected = taking.map((route) => {
    const { repeat } = IDEMPOTENT_CALLS[idOf(route)] ?? expect.unreachable()
    return `| \`${nameOf(route).replaceAll(/:(\w+)/g, '{$1}')}\` | ${REPEATS[repeat]} |`
  })
  expect(listed).toEqual(expected)
})

describe('the header', () => {
  it('is refused by every other POST, which then changes nothing', async () => {
    const world = await newWorld()
    const before = await storedTables()
    for (const route of refusing) {
      const { status, body } = await callRoute(world, route, { token: tokenFor(world, route), headers: HEADER })
      expect([nameOf(route), status, body.code]).toEqual([nameOf(route), 400, 'idempotency_not_supported'])
    }
    expect(refusing.length).toBeGreaterThan(20)
    expect(await storedTables()).toEqual(before)
  })

  it('says nothing to who has no credentials', async () => {
    const world = await newWorld()
    for (const route of [...taking, ...refusing].filter(({ meta }) => meta.operation?.policy)) {
      expect((await callRoute(world, route, { token: null, headers: HEADER })).status).toBe(401)
    }
  })

  it('is ignored by vendors’ deliveries and by methods that are safe to repeat', async () => {
    const world = await newWorld()
    const { project, secret: token, connection } = world
    const bindings = { EVENTS: lossyQueue().EVENTS }
    const delivered = await call(`/ingest/${connection.id}`, { method: 'POST', body: '{}', headers: HEADER, bindings })
    expect(delivered.body.code).toBe('signature_missing')
    const headers = { 'Idempotency-Key': 'not a valid one' }
    const path = `/platform/v1/billing/connections/${connection.id}`
    for (const options of [{}, { method: 'PATCH', json: { name: 'n' } }, { method: 'DELETE' }]) {
      expect((await call(path, { project, token, headers, ...options })).status).toBeLessThan(300)
    }
  })
})
