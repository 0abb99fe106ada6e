import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import {
  createClient,
  entitlementTokens,
  type Followed,
  follow,
  items,
  type PlatformClient,
  PlatformError,
  pages,
  tokenVerifier,
} from 'platform-api-client'
import { type serve as Serve, serve } from './server.ts'

/* Lists, the feed and tokens of a running API (URL, and TOKEN of a console session), through a proxy that can fail. */

const { URL: url = '', TOKEN: token = '' } = process.env
let api: PlatformClient
let proxy: Awaited<ReturnType<typeof Serve>>
let isDown = false
let projectId = ''
/** The address that the API gives itself. */
let issuer = ''

const MINUTE = 60_000
const tokensAsked = () => proxy.requests.filter(({ path }) => path.endsWith('/entitlements/token')).length
const keysAsked = () => proxy.requests.filter(({ path }) => path.endsWith('/jwks.json')).length
const failsWith = (code: string) => (error: unknown) => error instanceof PlatformError && error.code === code
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

before(async () => {
  const visitor = createClient({ baseUrl: url, token })
  projectId = (await visitor.createProject({ body: { name: 'Client' } })).id
  proxy = await serve(async (response, { method = '', url: path = '', headers, text }) => {
    if (isDown) return response.destroy()
    const { host: _, connection: __, 'content-length': ___, ...sent } = headers as Record<string, string>
    const body = text === '' ? null : text
    const answer = await fetch(url + path, { method, headers: sent, body })
    const {
      'content-encoding': _e,
      'content-length': _l,
      'transfer-encoding': _t,
      ...got
    } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, got).end(Buffer.from(await answer.arrayBuffer()))
  })
  api = createClient({ baseUrl: proxy.url, token, projectId, retry: { attempts: 2, totalMs: 10_000 } })
  await api.putFeature({ key: 'sso', body: { name: 'Single sign-on', type: 'boolean' } })
  await api.putFeature({ key: 'seats', body: { name: 'Seats', type: 'quantity' } })
  await api.createPlan({ body: { key: 'pro', name: 'Pro' } })
  for (const name of ['ada', 'bob', 'cyd']) await api.putConsumer({ consumer: `ext:${name}`, body: {} })
  await api.createGrant({ body: { consumer: 'ext:ada', feature: 'seats', value: 5 } })
  issuer = claimsOf((await api.createEntitlementToken({ consumer: 'ext:ada', body: {} })).token).iss
})

after(() => proxy.close())

test('the items and the pages of a list', async () => {
  const names: (string | null)[] = []
  for await (const { external_id } of items(api.listConsumers, { limit: 2 })) names.push(external_id)
  assert.deepEqual(names, ['cyd', 'bob', 'ada'])
  const sizes: number[] = []
  for await (const { data } of pages(api.listConsumers, { limit: 2 })) sizes.push(data.length)
  assert.deepEqual(sizes, [2, 1])
  await assert.rejects(items(api.listConsumers, { limit: 1000 }).next(), failsWith('validation_failed'))
})

test('a repeat with one Idempotency-Key makes one grant', async () => {
  const again = { headers: { 'Idempotency-Key': crypto.randomUUID() } }
  const body = { consumer: 'ext:bob', feature: 'seats', value: 1 } as const
  assert.equal((await api.createGrant({ body }, again)).id, (await api.createGrant({ body }, again)).id)
})

test('following changes: it begins, continues, waits, and begins again once the position has expired', async () => {
  const abort = new AbortController()
  const seen: Followed[] = []
  const types = ['consumer.*' as const]
  const take = async (after: string | null, most: number) => {
    seen.length = 0
    for await (const page of follow(api, { after, types, signal: abort.signal })) {
      seen.push(page)
      if (page.begins) await api.putConsumer({ consumer: 'ext:dan', body: { name: String(Math.random()) } })
      if (seen.length === most) break
    }
    return seen.at(-1)?.position ?? ''
  }
  const position = await take(null, 2)
  assert.deepEqual(
    seen.map(({ begins, changes }) => [begins, changes.map(({ type }) => type)]),
    [
      [true, []],
      [false, ['consumer.created']],
    ],
  )
  await api.putConsumer({ consumer: 'ext:dan', body: { name: 'Dan' } })
  const [prefix = '', number = ''] = [position.slice(0, position.lastIndexOf('_') + 1), await take(position, 1)]
  assert.deepEqual(
    seen[0]?.changes.map(({ type }) => type),
    ['consumer.updated'],
  )
  await take(`${prefix}999999`, 2) // ahead of the newest change
  assert.deepEqual(
    seen.map(({ begins }) => begins),
    [true, false],
  )
  // Nothing more comes: the wait ends with the signal.
  setTimeout(() => abort.abort(new Error('stopped')), 300)
  await assert.rejects(take(number, 100), /stopped/)
  await assert.rejects(follow(api, { after: 'nonsense' }).next(), failsWith('invalid_cursor'))
})

test('tokens are kept, renewed before they end, and used until they end if the API is away', async () => {
  const entitlements = entitlementTokens(api, { ttl_s: 60 })
  const before = tokensAsked()
  const asked = ['seats', 'sso', 'seats'].map((feature) => entitlements.allows('ext:ada', feature))
  assert.deepEqual(await Promise.all(asked), [true, false, true])
  assert.equal(await entitlements.value('ext:ada', 'seats'), 5)
  assert.equal(tokensAsked() - before, 1)

  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  try {
    mock.timers.setTime(Date.now() + 50_000)
    const old = await entitlements.token('ext:ada')
    assert.notEqual(await entitlements.token('ext:ada', { atLeastS: 20 }), old)
    assert.notEqual(await entitlements.token('ext:ada'), old)
    assert.equal(tokensAsked() - before, 2)
    await assert.rejects(entitlements.token('ext:ada', { atLeastS: 61 }), TypeError)

    isDown = true
    mock.timers.setTime(Date.now() + 55_000)
    assert.equal(await entitlements.allows('ext:ada', 'seats'), true)
    mock.timers.setTime(Date.now() + 6_000)
    await assert.rejects(entitlements.allows('ext:ada', 'seats'), failsWith('unreachable'))
    isDown = false
    assert.equal(await entitlements.allows('ext:ada', 'seats'), true)
  } finally {
    isDown = false
    mock.timers.reset()
  }
})

test('a consumer that is unknown or blocked is allowed nothing, and what changed can be asked anew', async () => {
  const entitlements = entitlementTokens(api, { features: ['seats'] })
  assert.equal(await entitlements.allows('ext:nobody', 'seats'), false)
  await assert.rejects(entitlements.token('ext:nobody'), failsWith('not_found'))
  await assert.rejects(entitlements.allows('ext:bob', 'sso'), /not among the features/)
  await assert.rejects(entitlements.allows('bob', 'seats'), TypeError)
  assert.equal(await entitlements.allows('ext:bob', 'seats'), true)
  const { id } = await api.blockConsumer({ consumer: 'ext:bob', body: {} })
  assert.equal(await entitlements.allows('ext:bob', 'seats'), true)
  entitlements.forget(id)
  assert.equal(await entitlements.allows('ext:bob', 'seats'), false)
})

test('the consumers that are remembered are bounded', async () => {
  const entitlements = entitlementTokens(api, { maxConsumers: 2 })
  for (const name of ['ada', 'cyd', 'ada', 'dan']) await entitlements.token(`ext:${name}`)
  const before = tokensAsked()
  await entitlements.token('ext:ada')
  await entitlements.token('ext:dan')
  assert.equal(tokensAsked() - before, 0)
  await entitlements.token('ext:cyd')
  assert.equal(tokensAsked() - before, 1)
})

test('a token is verified offline: keys once in five minutes, an unknown key once a minute', async () => {
  const verifier = createClient({ baseUrl: proxy.url, projectId, retry: false })
  const verify = tokenVerifier(verifier, { issuer })
  const issue = async () => (await api.createEntitlementToken({ consumer: 'ext:ada', body: {} })).token
  const jwt = await issue()
  const first = keysAsked()
  const [claims] = await Promise.all([verify(jwt), verify(jwt)])
  assert.deepEqual(claims.ent, { seats: 5 })
  assert.equal(claims.external_id, 'ada')
  assert.equal(keysAsked() - first, 1)
  assert.equal(proxy.requests.at(-1)?.headers['x-project-id'], undefined)

  await api.rotateEntitlementKey({ body: {} })
  const rotated = await issue()
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  try {
    await assert.rejects(verify(rotated), failsWith('invalid_token')) // the keys are less than a minute old
    mock.timers.setTime(Date.now() + MINUTE)
    assert.deepEqual((await verify(rotated)).ent, { seats: 5 })
    assert.deepEqual((await verify(jwt)).ent, { seats: 5 })
    assert.equal(keysAsked() - first, 2)
    isDown = true
    assert.deepEqual((await verify(rotated)).ent, { seats: 5 })
    const stranger = `${Buffer.from('{"alg":"ES256","kid":"x","typ":"entitlements+jwt"}').toString('base64url')}.${rotated.split('.').slice(1).join('.')}`
    await assert.rejects(verify(stranger), failsWith('invalid_token'))
    mock.timers.setTime(Date.now() + 2 * MINUTE)
    await assert.rejects(verify(stranger), failsWith('unreachable'))
    isDown = false
    await assert.rejects(verify(stranger), failsWith('unreachable')) // not asked again within five seconds
    mock.timers.setTime(Date.now() + 5_000)
    await assert.rejects(verify(stranger), failsWith('invalid_token'))
    mock.timers.setTime(Date.now() + 3 * MINUTE)
    await assert.rejects(verify(rotated), /has expired/)
  } finally {
    isDown = false
    mock.timers.reset()
  }
})

test('a token that was changed, or is meant for others, is refused', async () => {
  const jwt = (await api.createEntitlementToken({ consumer: 'ext:ada', body: {} })).token
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const more = Buffer.from(JSON.stringify({ ...claimsOf(jwt), ent: { sso: true } })).toString('base64url')
  const none = Buffer.from('{"alg":"none","typ":"entitlements+jwt"}').toString('base64url')
  const verify = tokenVerifier(api, { issuer })
  for (const wrong of [
    `${header}.${more}.${signature}`,
    `${none}.${claims}.`,
    `${header}.${claims}`,
    '',
    `${jwt}.x`,
    'ø.ø.ø',
  ]) {
    await assert.rejects(verify(wrong), failsWith('invalid_token'))
  }
  await assert.rejects(tokenVerifier(api)(jwt), /issuer/)
  const other = (await createClient({ baseUrl: url, token }).createProject({ body: { name: 'Other' } })).id
  await assert.rejects(tokenVerifier(createClient({ baseUrl: url, projectId: other }), { issuer })(jwt), /has no key/)
})
