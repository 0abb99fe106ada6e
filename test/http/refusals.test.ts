import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, call } from '../harness'
import { nameOf, ROUTES, takesBody } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

const WEBHOOKS = '/platform/v1/billing/webhooks'
/** The codes of `errors` that docs/reference/api.md states. */
const CODES = [
  'required',
  'wrong_type',
  'out_of_range',
  'not_one_of',
  'malformed',
  'unknown_field',
  'public_suffix',
  'reserved',
]

let world: World
beforeAll(async () => {
  world = await newWorld()
})
const ask = (path: string, json?: unknown) =>
  call(path, {
    method: json === undefined ? 'GET' : 'POST',
    json,
    token: path.startsWith('/auth') ? null : world.owner.token,
    project: world.project,
  })

function expectRefused(answer: Answer, pointer: string, code: string, detail: string | RegExp) {
  expect([answer.status, answer.body.code], answer.text).toEqual([422, 'validation_failed'])
  expect(answer.body.errors[0]).toMatchObject({ pointer, code })
  expect(CODES).toContain(code)
  if (typeof detail === 'string') expect(answer.body.detail).toBe(detail)
  else expect(answer.body.detail).toMatch(detail)
  // Zod's own words.
  expect(answer.text).not.toMatch(/Invalid |expected |, received |Too (small|big)|Unrecognized/)
}

describe('names a refused parameter and what it must be', () => {
  const ONE = 'must be a single value.'
  it.each([
    ['?limit=ten', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=1e1', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=0x10', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=1.5', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=%205', '/limit', 'wrong_type', '`limit` must be a whole number.'],
    ['?limit=0', '/limit', 'out_of_range', '`limit` must be at least 1.'],
    ['?limit=-1', '/limit', 'out_of_range', '`limit` must be at least 1.'],
    ['?limit=101', '/limit', 'out_of_range', '`limit` must be at most 100.'],
    ['?limit=1&limit=2', '/limit', 'wrong_type', `\`limit\` ${ONE}`],
    ['?view=raw', '/view', 'not_one_of', '`view` must be one of full, summary.'],
    ['?view=full&view=full', '/view', 'wrong_type', `\`view\` ${ONE}`],
    [`?cursor=${'A'.repeat(401)}`, '/cursor', 'out_of_range', '`cursor` must be at most 400 characters long.'],
    [
      '?status=failed',
      '/status',
      'unknown_field',
      /^`status` is not a known field; this call takes limit, cursor, view\.$/,
    ],
    ['?a=1&limit=0', '/limit', 'out_of_range', '`limit` must be at least 1. `errors` lists 1 more.'],
    ['/health?a=1', '/a', 'unknown_field', '`a` is not a known field; this call takes no query parameters.'],
    ['/search?status=bad', '/status', 'not_one_of', /^`status` must be one of received, processing, /],
    ['/search?status=', '/status', 'not_one_of', /^`status` must be one of received, processing, /],
    ['/search?status=failed&status=bad', '/status/1', 'not_one_of', /^`status\.1` must be one of received, /],
    [
      '/search?event_type=customer.*.updated',
      '/event_type',
      'malformed',
      '`event_type` may contain * only as its last character.',
    ],
    ['/search?event_type=', '/event_type', 'out_of_range', '`event_type` must not be empty.'],
    ['/search?event_type=a&event_type=*b', '/event_type/1', 'malformed', /^`event_type\.1` may contain \* only/],
    [`/search?${'status=failed&'.repeat(21)}`, '/status', 'out_of_range', '`status` must have at most 20 items.'],
    ['/search?livemode=1', '/livemode', 'not_one_of', '`livemode` must be one of true, false.'],
    ['/search?livemode=true&livemode=true', '/livemode', 'wrong_type', `\`livemode\` ${ONE}`],
    ['/search?vendor=stripe&vendor=paddle', '/vendor', 'wrong_type', `\`vendor\` ${ONE}`],
    ['/search?min_attempts=1e1', '/min_attempts', 'wrong_type', '`min_attempts` must be a whole number.'],
    ['/search?min_attempts=0', '/min_attempts', 'out_of_range', '`min_attempts` must be at least 1.'],
    ['/search?error=ab', '/error', 'out_of_range', '`error` must be at least 3 characters long.'],
    [
      '/search?received_after=yesterday',
      '/received_after',
      'malformed',
      '`received_after` must be an RFC 3339 timestamp, for example 2026-01-31T12:00:00Z.',
    ],
    [
      '/search?received_after=2026-05-04T10:00:00Z&received_before=2026-05-04T10:00:00Z',
      '/received_before',
      'out_of_range',
      '`received_before` must be later than received_after.',
    ],
    [
      '/lag-timeseries?from=1900-01-01T00:00:00Z&bucket=1d',
      '/bucket',
      'out_of_range',
      /^`bucket` would give \d+ points; the limit is 1500: use a shorter range\.$/,
    ],
    [
      '/lag-timeseries?from=2020-01-01T00:00:00Z&bucket=1h',
      '/bucket',
      'out_of_range',
      /^`bucket` would give \d+ points; the limit is 1500: use a larger bucket or a shorter range\.$/,
    ],
  ])('GET …/webhooks%s', async (path, pointer, code, detail) => {
    expectRefused(await ask(WEBHOOKS + path), pointer, code, detail)
  })
})

describe('names a refused field of a body and what it must be', () => {
  const KEYS = '/platform/v1/api-keys'
  const CONNECTIONS = '/platform/v1/billing/connections'
  it.each<[string, unknown, string, string, string | RegExp]>([
    [KEYS, {}, '/name', 'required', '`name` is required.'],
    [KEYS, { name: null }, '/name', 'wrong_type', '`name` must be a string.'],
    [KEYS, { name: 7 }, '/name', 'wrong_type', '`name` must be a string.'],
    [KEYS, { name: ' ' }, '/name', 'out_of_range', '`name` must not be empty.'],
    [KEYS, { name: 'x'.repeat(101) }, '/name', 'out_of_range', '`name` must be at most 100 characters long.'],
    [KEYS, { name: 'a\nb' }, '/name', 'malformed', '`name` must not contain control characters.'],
    [KEYS, { name: 'x', scopes: [] }, '/scopes', 'out_of_range', '`scopes` must not be empty.'],
    [KEYS, { name: 'x', scopes: 'all' }, '/scopes', 'wrong_type', '`scopes` must be an array.'],
    [KEYS, { name: 'x', scopes: ['all'] }, '/scopes/0', 'not_one_of', /^`scopes\.0` must be one of projects:read, /],
    [
      KEYS,
      { name: 'x', expires_at: 'soon' },
      '/expires_at',
      'malformed',
      /^`expires_at` must be an RFC 3339 timestamp, for example 20/,
    ],
    [
      KEYS,
      { name: 'x', expires_at: '2001-01-01T00:00:00Z' },
      '/expires_at',
      'out_of_range',
      '`expires_at` must be in the future and at most ten years from now.',
    ],
    [
      KEYS,
      { name: 'x', role: 1 },
      '/role',
      'unknown_field',
      /^`role` is not a known field; this call takes name, scopes, /,
    ],
    [KEYS, [], '', 'wrong_type', 'The body must be an object.'],
    [
      CONNECTIONS,
      { name: 'x', livemode: true, signing_secret: 'whsec_12345678' },
      '/vendor',
      'required',
      '`vendor` is required.',
    ],
    [
      CONNECTIONS,
      { vendor: 'stripe', name: 'x', signing_secret: 'whsec_12345678' },
      '/livemode',
      'required',
      '`livemode` is required.',
    ],
    [
      CONNECTIONS,
      { vendor: 'stripe', name: 'x', livemode: true, signing_secret: '' },
      '/signing_secret',
      'out_of_range',
      '`signing_secret` must not be empty.',
    ],
    [
      CONNECTIONS,
      { vendor: 'stripe', name: 'x', livemode: true, signing_secret: 'sk_live_1234' },
      '/signing_secret',
      'malformed',
      /^`signing_secret` /,
    ],
    [
      `${WEBHOOKS}/replay`,
      { filter: { limit: 1 } },
      '/filter/limit',
      'unknown_field',
      /^`filter\.limit` is not a known field/,
    ],
    [`${WEBHOOKS}/replay`, { filter: {}, limit: 1001 }, '/limit', 'out_of_range', '`limit` must be at most 1000.'],
    [`${WEBHOOKS}/replay`, { filter: {}, limit: 1.5 }, '/limit', 'wrong_type', '`limit` must be a whole number.'],
    [
      `${WEBHOOKS}/replay`,
      { filter: {}, dry_run: 'yes' },
      '/dry_run',
      'wrong_type',
      '`dry_run` must be true or false.',
    ],
    [`${WEBHOOKS}/replay`, { filter: { event_type: 7 } }, '/filter/event_type', 'wrong_type', /must be a string/],
    ['/auth/codes', { email: 'nobody' }, '/email', 'malformed', '`email` must be a valid email address.'],
  ])('POST %s %j', async (path, json, pointer, code, detail) => {
    expectRefused(await ask(path, json), pointer, code, detail)
  })

  it('PATCH with nothing to change', async () => {
    const { connection, owner, project } = world
    const at = `${CONNECTIONS}/${connection.id}`
    const answer = await call(at, { method: 'PATCH', token: owner.token, project, json: {} })
    expectRefused(answer, '', 'required', 'The body must have at least one field to change.')
  })
})

const BODYLESS = ROUTES.filter((route) => route.method !== 'GET' && !takesBody(route) && !route.meta.operation?.rawBody)

it('some calls change things and take no body', () => expect(BODYLESS.length).toBeGreaterThan(5))

/** The bodies that say nothing. Each route is sent one of them; the middleware that reads them is the same for all. */
const NOTHING = ['', ' \n', '{}', '{\n}\n']

it.each(BODYLESS.map((route, n) => [nameOf(route), route, NOTHING[n % NOTHING.length] as string] as const))(
  '%s takes no body, and refuses one, rather than seem to have heeded it',
  async (_, route, nothing) => {
    const JSON_TYPE = { 'Content-Type': 'application/json' }
    const here = await newWorld()
    const send = (body: BodyInit, headers: Record<string, string> = JSON_TYPE) =>
      callRoute(here, route, { token: tokenFor(here, route), body, headers })
    const tried: [BodyInit, Record<string, string>?][] = [
      ['{"dry_run":true}'],
      ['{"expires_at":"2030-01-01T00:00:00Z"}'],
      ['[]'],
      ['null'],
      ['{'],
      ['grace=60', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ['x', {}],
      [new Uint8Array([0xff])],
      [' '.repeat(70_000)],
      [new Uint8Array(10_000_000)],
      ['{}', { ...JSON_TYPE, 'Content-Length': '10000000' }],
    ]
    for (const [body, headers] of tried) {
      const detail = 'The body must be empty; this call takes parameters only in its path and query.'
      expectRefused(await send(body, headers), '', 'unknown_field', detail)
    }
    // Nothing was done: the key, the connection, the session … are as they were. A body that says nothing passes.
    const answer = await send(nothing)
    expect(answer.status, answer.text).toBeLessThan(300)
    expect(answer.body?.replay?.deduplicated ?? true).toBe(true)
  },
)
