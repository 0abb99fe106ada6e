import { describe, expect, it, vi } from 'vitest'
import { openRuntime } from '../../../src/env'
import { MINUTE } from '../../../src/lib/time'
import { authorizationUrl, proofsOf } from '../../../src/sso/oidc/authorize'
import { discover, metadataOf } from '../../../src/sso/oidc/metadata'
import type { OidcClient, SignInStep } from '../../../src/sso/oidc/oidc-client'
import { advance, stopClock } from '../../clock'
import { bound, newHost, seenBy, setHost } from '../../harness'
import type { Faults } from '../../outside/faulty'
import { CALLBACK, clientOf, faultyHost, runtime, signIn } from './sign-in'

const requestsOf = async (host: string) => (await seenBy(host)).map(({ url }) => new URL(url).pathname)
const askedFor = async (host: string, path: string) => (await requestsOf(host)).filter((one) => one === path).length
const DISCOVERY = '/.well-known/openid-configuration'

describe('providers that others have written', () => {
  it.each(['certified.dev', 'mock.dev'])('sign in: %s', async (kind) => {
    const host = newHost(kind)
    await setHost(host, { redirect_uris: [CALLBACK] })
    const steps: SignInStep[] = []
    expect(await signIn(clientOf(host), { steps })).toMatchObject({
      issuer: `https://${host}`,
      subject: 'ada',
      email: 'ada@acme.dev',
      email_verified: true,
      name: 'Ada',
    })
    expect(steps.filter(({ ok }) => !ok)).toEqual([])
  })

  it('refuse a wrong client secret, and the message says so', async () => {
    const host = newHost('certified.dev')
    await setHost(host, { redirect_uris: [CALLBACK] })
    await expect(signIn(clientOf(host, { client_secret: 'another' }))).rejects.toMatchObject({
      reason: 'token_refused',
      message: expect.stringContaining('invalid_client'),
    })
  })
})

describe('the address at the provider', () => {
  const login = { state: 'a state', redirect_uri: CALLBACK, login_hint: 'ada@acme.dev' }

  it('has what OpenID Connect asks for, and keeps what the provider has put into it', async () => {
    const host = newHost('faulty.dev')
    await setHost(host, { discovery: { authorization_endpoint: `https://${host}/authorize?tenant=t1` } })
    const url = new URL(await authorizationUrl(runtime(), clientOf(host, { scopes: ['email', 'openid'] }), login))
    expect(Object.fromEntries(url.searchParams)).toEqual({
      tenant: 't1',
      response_type: 'code',
      client_id: 'rp',
      redirect_uri: CALLBACK,
      scope: 'openid email',
      state: 'a state',
      login_hint: 'ada@acme.dev',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
  })

  it('has a nonce and a challenge that are the same for one state, and others for another', async () => {
    const client = clientOf(await faultyHost({}))
    const proofs = async (state: string) => {
      const { searchParams } = new URL(await authorizationUrl(runtime(), client, { ...login, state }))
      return [searchParams.get('nonce'), searchParams.get('code_challenge')]
    }
    const first = await proofs('one')
    expect(await proofs('one')).toEqual(first)
    for (const proof of await proofs('two')) expect(first).not.toContain(proof)
  })

  it('shows the nonce and not the verifier, which only this deployment can make', async () => {
    const { nonce, verifier } = await proofsOf(runtime(), 'a state')
    expect(verifier).not.toBe(nonce)
    const others = openRuntime({ ...bound, CODE_PEPPER: 'the pepper of another deployment' }, { waitUntil: () => {} })
    const { nonce: otherNonce, verifier: otherVerifier } = await proofsOf(others, 'a state')
    expect([otherNonce, otherVerifier]).not.toEqual(expect.arrayContaining([nonce]))
    expect([otherNonce, otherVerifier]).not.toEqual(expect.arrayContaining([verifier]))
  })
})

it.each<[OidcClient['auth_method'], Partial<OidcClient>, object]>([
  ['client_secret_basic', {}, { headers: { authorization: `Basic ${btoa('rp:s3cret')}` } }],
  ['client_secret_post', {}, { body: expect.stringContaining('client_secret=s3cret') }],
  ['none', { client_id: 'public', client_secret: null }, { body: expect.not.stringContaining('client_secret') }],
])('The client signs in by %s', async (auth_method, changes, sent) => {
  const host = await faultyHost({})
  await signIn(clientOf(host, { auth_method, ...changes }))
  expect((await seenBy(host)).find(({ method }) => method === 'POST')).toMatchObject(sent)
})

describe('who it is', () => {
  const upn = { claims: { email: 'upn', name: 'given_name' } }
  it.each<[string, Faults, object, Partial<OidcClient>?]>([
    [
      'the ID token counts before UserInfo',
      { claims: { email: 'a@acme.dev', name: 'A' }, userinfo: { email: 'b@acme.dev', name: 'B' } },
      { email: 'a@acme.dev', email_verified: true, name: 'A' },
    ],
    [
      'UserInfo fills in',
      { claims: { email: null, email_verified: null, name: null }, userinfo: { name: 'B' } },
      { email: 'ada@acme.dev', email_verified: true, name: 'B' },
    ],
    [
      'one vouches for the other only if the address is the same',
      { claims: { email: 'ceo@acme.dev', email_verified: null } },
      { email: 'ceo@acme.dev', email_verified: false },
    ],
    [
      'in any case of letters',
      { claims: { email: 'Ada@acme.dev', email_verified: null } },
      { email: 'Ada@acme.dev', email_verified: true },
    ],
    [
      '"true" is not true',
      { claims: { email_verified: 'true' }, userinfo: { email_verified: null } },
      { email_verified: false },
    ],
    ['nor is 1', { claims: { email_verified: 1 }, userinfo: { email_verified: null } }, { email_verified: false }],
    [
      'false is not',
      { claims: { email_verified: false }, userinfo: { email_verified: null } },
      { email_verified: false },
    ],
    [
      'an address that is empty is none',
      { claims: { email: '' }, userinfo: { email: '' } },
      { email: null, email_verified: false },
    ],
    ['a long name is cut', { claims: { name: 'n'.repeat(300) } }, { name: 'n'.repeat(200) }],
    ['a long session is none', { claims: { sid: 's'.repeat(256) } }, { sid: null }],
    [
      'the claims of the ID token count',
      { claims: { team: 'blue' }, userinfo: { team: 'red', floor: 2 } },
      { claims: expect.objectContaining({ team: 'blue', floor: 2 }) },
    ],
    [
      'nobody vouches',
      { claims: { email_verified: null }, userinfo: { email_verified: null } },
      { email_verified: false },
    ],
    [
      'an address that is a list is none',
      { claims: { email: ['a@acme.dev'] }, userinfo: { email: null } },
      { email: null, email_verified: false },
    ],
    [
      'an address that is too long is none',
      { claims: { email: `${'a'.repeat(250)}@acme.dev` } },
      { email: null, email_verified: false },
    ],
    [
      'claims of other names',
      { claims: { upn: 'ada@acme.dev', given_name: 'A.' } },
      { email: 'ada@acme.dev', email_verified: true, name: 'A.' },
      upn,
    ],
    [
      'email_verified speaks of email alone',
      { claims: { upn: 'ceo@acme.dev' } },
      { email: 'ceo@acme.dev', email_verified: false },
      upn,
    ],
    ['the session', { claims: { sid: 's1' } }, { sid: 's1' }],
    [
      'a name that is cut holds whole characters',
      { claims: { name: `${'a'.repeat(199)}😀` }, userinfo: { name: null } },
      { name: 'a'.repeat(199) },
    ],
    [
      'halves of characters are replaced, and backslashes are not',
      { claims: { name: 'A\ud83d', deep: ['\udc00', '\\ud800', '😀'] } },
      { name: 'A\ufffd', claims: { deep: ['\ufffd', '\\ud800', '😀'] } },
    ],
  ])('%s', async (_, faults, person, changes) => {
    expect(await signIn(clientOf(await faultyHost(faults), changes))).toMatchObject(person)
  })

  it('has the claims that fit into 8 KB, and none that prove the sign-in', async () => {
    const proofs = { at_hash: 'x', c_hash: 'x', s_hash: 'x', jti: 'x' }
    const host = await faultyHost({ claims: { groups: ['x'.repeat(9000)], team: 'blue', ...proofs } })
    const { claims } = await signIn(clientOf(host))
    expect(claims).toMatchObject({ sub: 'u1', team: 'blue' })
    for (const name of ['groups', 'nonce', ...Object.keys(proofs)]) expect(claims).not.toHaveProperty(name)
  })

  it('has claims of 8 KB in all, in bytes', async () => {
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`claim_${i}`, 'ü'.repeat(600)]))
    const { claims } = await signIn(clientOf(await faultyHost({ claims: many })))
    const { byteLength } = new TextEncoder().encode(JSON.stringify(claims))
    expect(byteLength).toBeGreaterThan(6000)
    expect(byteLength).toBeLessThanOrEqual(8192)
  })
})

describe('the memory of an isolate', () => {
  /** Signs in, with a provider whose clock is the stopped one. */
  async function signInNow(host: string, faults: Faults = {}) {
    await setHost(host, { now: Date.now(), ...faults })
    return signIn(clientOf(host)).then(
      () => 'passes',
      ({ reason }) => reason,
    )
  }

  it('keeps the metadata for ten minutes, and the keys for five', async () => {
    stopClock()
    const host = newHost('faulty.dev')
    const asked: number[][] = []
    for (const wait of [0, 4 * MINUTE, 2 * MINUTE, 5 * MINUTE]) {
      advance(wait)
      expect(await signInNow(host)).toBe('passes')
      asked.push([await askedFor(host, DISCOVERY), await askedFor(host, '/jwks')])
    }
    expect(asked).toEqual([
      [1, 1],
      [0, 0],
      [0, 1],
      [1, 1],
    ])
  })

  it('asks for the keys again where a kid is unknown, but at most once a minute', async () => {
    stopClock()
    const host = newHost('faulty.dev')
    expect(await signInNow(host)).toBe('passes')
    const rotated = { kid: 'k2', kids: ['k1', 'k2'] }
    expect(await signInNow(host, rotated)).toBe('signature_refused')
    expect(await askedFor(host, '/jwks')).toBe(0)
    advance(MINUTE)
    expect(await signInNow(host, rotated)).toBe('passes')
    expect(await askedFor(host, '/jwks')).toBe(1)
    expect(await signInNow(host, { ...rotated, kid: 'k3' })).toBe('signature_refused')
    expect(await askedFor(host, '/jwks')).toBe(0)
  })

  it('does not keep a document that cannot be used', async () => {
    const host = await faultyHost({ discovery: { token_endpoint: null } })
    const { issuer } = clientOf(host)
    await expect(metadataOf(runtime(), issuer)).rejects.toThrow('token_endpoint')
    await expect(metadataOf(runtime(), issuer)).rejects.toThrow('token_endpoint')
    expect(await discover(runtime(), issuer)).toEqual({ ok: false, detail: expect.stringContaining('token_endpoint') })
    await setHost(host, {})
    expect(await discover(runtime(), issuer)).toEqual({ ok: true, detail: null })
    await signIn(clientOf(host))
    await discover(runtime(), issuer)
    expect(await askedFor(host, DISCOVERY)).toBe(2)
  })
})

describe('what is kept of providers', () => {
  it('is what is read of their documents', async () => {
    const host = await faultyHost({ discovery: { claims_supported: ['sub'], mtls_endpoint_aliases: {} } })
    const metadata = await metadataOf(runtime(), clientOf(host).issuer)
    expect(metadata).toHaveProperty('token_endpoint')
    for (const name of ['claims_supported', 'mtls_endpoint_aliases']) expect(metadata).not.toHaveProperty(name)
  })

  it('is that of the last 32', async () => {
    const hosts = await Promise.all(Array.from({ length: 33 }, () => faultyHost({})))
    for (const host of hosts) await metadataOf(runtime(), clientOf(host).issuer)
    for (const host of [hosts[32], hosts[0]] as string[]) await metadataOf(runtime(), clientOf(host).issuer)
    expect(await askedFor(hosts[32] as string, DISCOVERY)).toBe(1)
    expect(await askedFor(hosts[0] as string, DISCOVERY)).toBe(2)
  })
})

describe('a provider that is', () => {
  it.each(['silent', 'slow'] as const)('%s is given up after five seconds', async (trouble) => {
    const { timeout } = AbortSignal
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return timeout.call(AbortSignal, 100)
    })
    for (const path of [DISCOVERY, '/token', '/jwks', '/userinfo']) {
      const host = await faultyHost({ pages: { [path]: { trouble } } })
      await expect(signIn(clientOf(host)), path).rejects.toMatchObject({ reason: 'provider_unreachable' })
    }
    expect(new Set(limits)).toEqual(new Set([5000]))
  })

  it('slow in each of its responses has ten seconds for all of them', async () => {
    stopClock()
    const { timeout } = AbortSignal
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      advance(4500)
      return timeout.call(AbortSignal, 5000)
    })
    await signIn(clientOf(await faultyHost({})))
    // The discovery document comes before the browser does; then the tokens, the keys and UserInfo.
    expect(limits).toEqual([5000, 5000, 5000, 1000])
  })
})

it.each(['?x=1', '#x', '?', '#'])('An issuer with %s is refused, though its document has the same', async (rest) => {
  const host = newHost('faulty.dev')
  const issuer = `https://${host}/${rest}`
  await setHost(host, { discovery: { issuer } })
  expect(await discover(runtime(), issuer)).toMatchObject({ ok: false })
  expect(await requestsOf(host)).toEqual([])
})

it('Each endpoint is asked for the media type that is read from it', async () => {
  const host = await faultyHost({})
  await signIn(clientOf(host))
  const asked = (await seenBy(host)).map(({ url, headers }) => [new URL(url).pathname, headers.accept])
  expect(Object.fromEntries(asked)).toMatchObject({
    [DISCOVERY]: 'application/json',
    '/token': 'application/json',
    '/jwks': 'application/json, application/jwk-set+json',
    '/userinfo': 'application/json',
  })
})

it.each([
  'http://idp.acme.dev',
  'https://10.0.0.1',
  'https://platform.test',
  'https://idp.acme.dev/?x=1',
  'https://idp.acme.dev/#x',
  'idp',
])('An issuer is refused before anything is fetched: %s', async (issuer) => {
  expect(await discover(runtime(), issuer)).toMatchObject({ ok: false })
})
