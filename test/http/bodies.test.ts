import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { RouteEntry } from '../../src/http/openapi'
import { MAX_BODY_BYTES } from '../../src/http/validate'
import { type Answer, call, freshProject, inTurn, type RequestOptions, STORE } from '../harness'
import { nameOf, ROUTES, takesBody } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'
import { BAD_TEXTS, coercible, takesNoText, UNKNOWN, UNKNOWN_PARAMETERS, WRONG } from './wrong-values'

const BODIES = ROUTES.filter(takesBody)
const JSON_TYPE = { 'Content-Type': 'application/json' }
const utf8 = (text: string) => new TextEncoder().encode(text)
const utf16 = (text: string) => {
  const bytes = new Uint8Array(2 + text.length * 2)
  new DataView(bytes.buffer).setUint16(0, 0xfeff, true)
  for (let i = 0; i < text.length; i++) new DataView(bytes.buffer).setUint16(2 + i * 2, text.charCodeAt(i), true)
  return bytes
}
/** JSON text with raw bytes in place of `@`. */
const around = (text: string, ...bytes: number[]) => {
  const [before = '', after = ''] = text.split('@')
  return Uint8Array.from([...utf8(before), ...bytes, ...utf8(after)])
}
const name = (value: string) => `{"name":${value}}`

type Refusal = [what: string, options: RequestOptions, status: number, code: string, pointer?: string]

/** Refused by every route with a body, whatever its fields. */
const HOSTILE: Refusal[] = [
  ['no body', {}, 400, 'invalid_json'],
  ['an empty body', { body: '' }, 400, 'invalid_json'],
  ['white space', { body: ' \n\t' }, 400, 'invalid_json'],
  ['an object cut short', { body: '{"name":"x"' }, 400, 'invalid_json'],
  ['two values', { body: '{} {}' }, 400, 'invalid_json'],
  ['a trailing comma', { body: '{"name":"x",}' }, 400, 'invalid_json'],
  ['single quotes', { body: "{'name':'x'}" }, 400, 'invalid_json'],
  ['a comment', { body: '{} // name' }, 400, 'invalid_json'],
  ['NaN', { body: name('NaN') }, 400, 'invalid_json'],
  ['a raw newline in a text', { body: name('"a\nb"') }, 400, 'invalid_json'],
  ['a raw NUL in a text', { body: name('"a\0b"') }, 400, 'invalid_json'],
  ['a NUL after the value', { body: '{}\0' }, 400, 'invalid_json'],
  ['20,000 open brackets', { body: '['.repeat(20_000) }, 400, 'invalid_json'],
  ['UTF-16 with its mark', { body: utf16('{"name":"x"}') }, 400, 'invalid_json'],
  ['UTF-16 without a mark', { body: utf16('{"name":"x"}').slice(2) }, 400, 'invalid_json'],
  ['a byte that is not UTF-8', { body: around(name('"a@b"'), 0xff) }, 400, 'invalid_json'],
  ['a surrogate in UTF-8', { body: around(name('"a@b"'), 0xed, 0xa0, 0x80) }, 400, 'invalid_json'],
  ['an overlong encoding', { body: around(name('"a@b"'), 0xc0, 0xaf) }, 400, 'invalid_json'],
  [
    'gzip',
    { body: Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 3), headers: { 'Content-Encoding': 'gzip', ...JSON_TYPE } },
    400,
    'invalid_json',
  ],
  ['null', { body: 'null' }, 422, 'validation_failed', ''],
  ['true', { body: 'true' }, 422, 'validation_failed', ''],
  ['a number', { body: '1' }, 422, 'validation_failed', ''],
  ['a text', { body: '"name"' }, 422, 'validation_failed', ''],
  ['an empty array', { body: '[]' }, 422, 'validation_failed', ''],
  ['an array of objects', { body: '[{"name":"x"}]' }, 422, 'validation_failed', ''],
  ['an array nested 20,000 deep', { body: '['.repeat(20_000) + ']'.repeat(20_000) }, 422, 'validation_failed', ''],
  ['no fields', { body: '{}' }, 422, 'validation_failed'],
  [
    '10 MB by its own account',
    { body: '{}', headers: { ...JSON_TYPE, 'Content-Length': '10000000' } },
    413,
    'payload_too_large',
  ],
  ['10 MB', { body: new Uint8Array(10_000_000) }, 413, 'payload_too_large'],
  ['text/plain', { body: name('"x"'), headers: { 'Content-Type': 'text/plain' } }, 415, 'unsupported_media_type'],
  [
    'a form',
    { body: 'name=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    415,
    'unsupported_media_type',
  ],
  [
    'a multipart form',
    { body: '--b--', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } },
    415,
    'unsupported_media_type',
  ],
  [
    'JSON of another kind',
    { body: name('"x"'), headers: { 'Content-Type': 'application/merge-patch+json' } },
    415,
    'unsupported_media_type',
  ],
  [
    'two types',
    { body: name('"x"'), headers: { 'Content-Type': 'application/json, text/plain' } },
    415,
    'unsupported_media_type',
  ],
  ['an empty type', { body: utf8(name('"x"')), headers: { 'Content-Type': '' } }, 415, 'unsupported_media_type'],
  ['no type', { body: utf8(name('"x"')), headers: { 'X-No': 'type' } }, 415, 'unsupported_media_type'],
]

/** Filters of the search that may be repeated. */
const REPEATABLE = ['event_type', 'status']

function problemOf(answer: Answer, status: number, code: string, what: string) {
  expect([answer.status, answer.body?.code], `${what}: ${answer.text.slice(0, 300)}`).toEqual([status, code])
  expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
}

const pointers = (answer: Answer): string[] => (answer.body?.errors ?? []).map(({ pointer }) => pointer)

/** Sends a body as JSON, with a credential that the route accepts. */
function send(world: World, route: RouteEntry, options: RequestOptions) {
  const headers = options.headers ?? JSON_TYPE
  const token = tokenFor(world, route)
  const sent = 'body' in options ? options : { ...options, body: new Uint8Array(0) }
  return callRoute(world, route, { token, ...sent, headers })
}

/** The sample, with JSON text as one field's value. */
function withField(sample: Record<string, unknown>, field: string, text: string) {
  const rest = Object.entries(sample).filter(([key]) => key !== field)
  return `{${[...rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`), `${JSON.stringify(field)}:${text}`].join(',')}}`
}

/** How many rows there are of everything that a refused request could have created. */
async function countAll() {
  const tables = ['projects', 'api_keys', 'connections', 'audit_log', 'sign_in_codes', 'sessions', 'users', 'replays']
  const counts = await STORE.batch<{ n: number }>(
    tables.map((table) => STORE.prepare(`SELECT count(*) AS n FROM ${table}`)),
  )
  const names = await STORE.prepare(
    'SELECT group_concat(name) AS names FROM (SELECT name FROM projects ORDER BY id)',
  ).first()
  return JSON.stringify([counts.map(({ results }) => results[0]?.n), names])
}

/** The project of all requests that are refused. */
let unchanged: World
beforeAll(async () => {
  unchanged = await newWorld()
})

it('every route that takes a JSON body has a sample here', () => {
  expect(BODIES.length).toBeGreaterThan(5)
  expect(BODIES.map(nameOf).filter((route) => !ROWS[route]?.json)).toEqual([])
})

describe.each(BODIES.map((route, nth) => [nameOf(route), route, nth] as const))('%s', (path, route, nth) => {
  const sample = ROWS[path]?.json ?? {}
  const good = ROWS[path]?.status ?? 200
  const { shape } = route.meta.body as z.ZodObject
  const fields = Object.keys(shape)
  // Of an object without the field: some fields may be missing, but not undefined, which JSON does not have.
  const required = fields.filter((field) => !z.object({ [field]: shape[field] as z.ZodType }).safeParse({}).success)

  it('takes its sample in as many bytes as a body may have, under any spelling of the content type', async () => {
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json ;charset="UTF-8"',
    ]
    let world = await newWorld()
    const take = async (options: RequestOptions) => {
      const answer = await send(world, route, options)
      if (answer.status === good) return answer
      world = await newWorld() // a project takes some samples only once
      return send(world, route, options)
    }
    const most = route.meta.bodyBytes ?? MAX_BODY_BYTES
    const tooLarge = { body: JSON.stringify(sample).padEnd(most + 1, ' ') }
    problemOf(await send(world, route, tooLarge), 413, 'payload_too_large', 'one byte too many')
    for (const type of inTurn(types, nth)) {
      const body = JSON.stringify(sample).padEnd(most, ' ')
      const answer = await take({ body, headers: { 'Content-Type': type } })
      expect(answer.status, `${type} ${answer.text}`).toBe(good)
    }
  })

  /** Whether all fields may be left out. */
  const takesNoFields = route.meta.body?.safeParse({}).success === true

  it('refuses hostile bodies, and changes nothing', async () => {
    const before = await countAll()
    for (const [what, options, status, code, pointer] of inTurn(HOSTILE, nth, 8)) {
      if (takesNoFields && (what === 'no fields' || (route.meta.bodyOptional && /body|space/.test(what)))) continue
      const answer = await send(unchanged, route, options)
      problemOf(answer, status, code, what)
      if (pointer !== undefined) expect(pointers(answer), what).toEqual([pointer])
    }
    expect(await countAll()).toBe(before)
  })

  it('points at each missing field', async () => {
    const world = takesNoFields ? await newWorld() : unchanged
    for (const field of required) {
      const { [field]: _, ...rest } = sample
      const answer = await send(world, route, { body: JSON.stringify(rest) })
      problemOf(answer, 422, 'validation_failed', field)
      expect(pointers(answer)).toEqual([`/${field}`])
    }
    expect(pointers(await send(world, route, { body: '{}' }))).toEqual(
      required.length > 0 || takesNoFields ? required.map((field) => `/${field}`) : [''],
    )
  })

  it('points at each field of a wrong type', async () => {
    const before = await countAll()
    for (const [at, field] of fields.entries()) {
      for (const [what, value] of inTurn(WRONG, nth + at, 3)) {
        const answer = await send(unchanged, route, { body: withField(sample, field, value) })
        problemOf(answer, 422, 'validation_failed', `${field}: ${what}`)
        // At the field itself, or inside it.
        for (const pointer of pointers(answer)) expect(`${pointer}/`, what).toMatch(new RegExp(`^/${field}/`))
        expect(pointers(answer).length).toBeGreaterThan(0)
      }
    }
    expect(await countAll()).toBe(before)
  })

  it('refuses a text with control characters or lone surrogates, and one that is too long', async () => {
    const before = await countAll()
    for (const [at, [field, value]] of Object.entries(sample).entries()) {
      // Any text may be the body of a delivery.
      if (typeof value !== 'string' || path.endsWith('/verification/try')) continue
      for (const [what, text] of inTurn(BAD_TEXTS, nth + at, 3)) {
        const answer = await send(unchanged, route, { body: withField(sample, field, `"${text}"`) })
        // Any text is a token, only an unknown one.
        if (path === 'POST /platform/v1/devices/verify' && text.length < 100) {
          expect([answer.status, answer.body.reason], what).toEqual([200, 'unknown'])
          continue
        }
        // Any text is a well-formed code or challenge, only a wrong one.
        const wrongCode = /^POST \/auth\/(sessions|session\/confirm)$/.test(path) && text.length < 100
        problemOf(answer, wrongCode ? 401 : 422, wrongCode ? 'invalid_code' : 'validation_failed', `${field}: ${what}`)
        if (!wrongCode) expect(pointers(answer), `${field}: ${what}`).toContain(`/${field}`)
      }
    }
    expect(await countAll()).toBe(before)
  })

  it('takes a text as neither a number nor a boolean', async () => {
    const found = fields.flatMap((field) => coercible(shape[field] as z.ZodType, [field]))
    expect(found, 'in a body, these are z.int() and z.boolean()').toEqual([])
    for (const field of fields.filter((one) => takesNoText(shape[one] as z.ZodType))) {
      const answer = await send(unchanged, route, { body: withField(sample, field, '"7"') })
      problemOf(answer, 422, 'validation_failed', field)
      expect(pointers(answer)).toContain(`/${field}`)
    }
  })

  it('takes no field that it does not know', async () => {
    const before = await countAll()
    for (const field of inTurn(UNKNOWN, nth, 3)) {
      if (fields.includes(field)) continue
      const answer = await send(unchanged, route, { body: withField(sample, field, '{"admin":true}') })
      problemOf(answer, 422, 'validation_failed', field)
      expect(pointers(answer)).toEqual([`/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`])
      expect(answer.body.errors[0].code).toBe('unknown_field')
    }
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`field_${i}`, 1]))
    const answer = await send(unchanged, route, { body: JSON.stringify({ ...sample, ...many }) })
    problemOf(answer, 422, 'validation_failed', '3,000 fields')
    expect(answer.text.length).toBeLessThan(20_000)
    expect(await countAll()).toBe(before)
  })
})

describe.each(ROUTES.map((route, nth) => [nameOf(route), route, nth] as const))('the query of %s', (_, route, nth) => {
  const ask = (query: string) => callRoute(unchanged, route, { token: tokenFor(unchanged, route), query })

  it('takes no parameter that it does not know', async () => {
    for (const query of inTurn(UNKNOWN_PARAMETERS, nth)) {
      const answer = await ask(query)
      problemOf(answer, 422, 'validation_failed', query)
      expect(answer.body.errors[0].code, query).toBe('unknown_field')
    }
    const named = await ask('nonsense=1&more=2')
    expect(pointers(named)).toEqual(['/nonsense', '/more'])
  })

  if (!route.meta.query) return
  it('takes a parameter once, unless it is a list', async () => {
    const { shape } = route.meta.query as z.ZodObject
    const isList = (field: string) => (shape[field] as z.ZodType).safeParse(['a', 'a']).success
    const single = Object.keys(shape).filter((field) => !isList(field) && !REPEATABLE.includes(field))
    expect(single.length).toBeGreaterThan(0)
    for (const field of single) {
      const query = `${field}=1&${field}=2`
      const answer = await ask(query)
      problemOf(answer, 422, 'validation_failed', field)
      expect(pointers(answer)).toContain(`/${field}`)
    }
  })

  if (!('vendor' in (route.meta.query as z.ZodObject).shape)) return
  it('takes a vendor by a name that there is', async () => {
    const answer = await ask('vendor=nobody')
    problemOf(answer, 422, 'validation_failed', 'vendor')
    expect(pointers(answer)).toEqual(['/vendor'])
  })
})

describe('a field', () => {
  it('is pointed at inside an array', async () => {
    const { project, owner } = await freshProject()
    const answer = await call('/platform/v1/api-keys', {
      method: 'POST',
      token: owner.token,
      project,
      json: { name: 'x', scopes: ['billing:read', 'nonsense', 7] },
    })
    problemOf(answer, 422, 'validation_failed', 'scopes')
    expect(pointers(answer)).toEqual(['/scopes/1', '/scopes/2'])
  })

  it.each([
    ['spaces alone', '   '],
    ['zero-width spaces alone', '\u200b\u200b'],
    ['joiners and variation selectors alone', '\u200d\ufe0f\u2060'],
    ['fillers and blanks alone', '\u3164 \u2800 \u115f'],
    ['accents alone', '\u0301'],
    ['101 characters', 'x'.repeat(101)],
    ['101 characters beyond the first plane', '🔑'.repeat(101)],
    ['a text that runs the other way', 'abc\u202edcba'],
    ['an isolate', 'a\u2066b'],
    ['a line separator', 'a\u2028b'],
    ['C1 control characters', 'a\u0085b'],
  ])('a name is not %s', async (_, text) => {
    const { owner } = await freshProject()
    const answer = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name: text } })
    problemOf(answer, 422, 'validation_failed', text)
    expect(pointers(answer)).toEqual(['/name'])
  })

  it.each([
    ['trimmed', '  Acme \t', 'Acme'],
    ['100 characters beyond the first plane', '🔑'.repeat(100), '🔑'.repeat(100)],
    ['joined characters', '👩\u200d💻', '👩\u200d💻'],
    ['any script', 'Ζωή عربي 漢字 ไทย', 'Ζωή عربي 漢字 ไทย'],
    ['markup, kept as it is', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ["a quote, and SQL's end of one", `Robert'); DROP TABLE projects;--`, `Robert'); DROP TABLE projects;--`],
  ])('a name is %s', async (_, text, kept) => {
    const { owner } = await freshProject()
    const answer = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name: text } })
    expect([answer.status, answer.body.name]).toEqual([201, kept])
  })

  it.each([
    '2020-01-01T00:00:00Z',
    '2999-01-01T00:00:00Z',
    '2027-01-01',
    '2027-13-01T00:00:00Z',
    'tomorrow',
    '',
    4102444800,
  ])('expires_at is not %s', async (expires_at) => {
    const { project, owner } = await freshProject()
    const json = { name: 'x', expires_at }
    const answer = await call('/platform/v1/api-keys', { method: 'POST', token: owner.token, project, json })
    problemOf(answer, 422, 'validation_failed', String(expires_at))
    expect(pointers(answer)).toEqual(['/expires_at'])
  })
})

describe('the path', () => {
  const malformed = ['%00', '%ff', '%2e%2e%2fself', '%27%20OR%201=1--', 'x'.repeat(4000), '%F0%9F%94%91', '%ed%a0%80']
  it.each(malformed)('with a malformed id is a 404: %s', async (id) => {
    // The last one creates what the path names, so a mistake in it is one of the call.
    const others = ['/ingest/:connection_id', '/platform/v1/billing/features/:key']
    const routes = ROUTES.filter(({ path }) => path.includes(':') && !others.includes(path))
    for (const route of routes.filter((_, nth) => inTurn(malformed, nth).includes(id))) {
      const path = route.path.replaceAll(/:\w+/g, id)
      const json = ROWS[nameOf(route)]?.json
      const options = {
        method: route.method,
        token: tokenFor(unchanged, route),
        project: unchanged.project,
        ...(json && { json }),
      }
      const { query } = ROWS[nameOf(route)] ?? {}
      problemOf(await call(query ? `${path}?${query}` : path, options), 404, 'not_found', nameOf(route))
    }
    expect((await call(`/ingest/${id}`, { method: 'POST', body: '{}' })).body.code).toBe('unknown_connection')
  })
})
