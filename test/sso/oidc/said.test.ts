import { describe, expect, it } from 'vitest'
import { proofsOf } from '../../../src/sso/oidc/authorize'
import type { OidcClient, SignInStep } from '../../../src/sso/oidc/oidc-client'
import { seenBy, setHost } from '../../harness'
import type { Faults } from '../../outside/faulty'
import { clientOf, faultyHost, runtime, signIn } from './sign-in'

/* What messages and the record of a test run say, and what they must not. */

describe('a message', () => {
  const said = (error_description: string, error = 'invalid_grant') => ({
    status: 400,
    body: JSON.stringify({ error, error_description }),
  })
  const EXCHANGE = 'The identity provider did not exchange the code for tokens.'
  const BEARER = 'Bearer error="invalid_token", error_description="Not today."'

  it.each<[string, Faults, string, Partial<OidcClient>?]>([
    [
      'has the words of the provider',
      { pages: { '/token': said('Not today.') } },
      `${EXCHANGE} It answered: invalid_grant: Not today.`,
    ],
    [
      'has no control characters of it',
      { pages: { '/token': said('a\u0000\nb\u202ec') } },
      `${EXCHANGE} It answered: invalid_grant: a b c`,
    ],
    [
      'has 300 characters of it',
      { pages: { '/token': said('x'.repeat(1000), 'e') } },
      `${EXCHANGE} It answered: e: ${'x'.repeat(297)}`,
    ],
    [
      'is the same without a client secret',
      { pages: { '/token': said('No.') } },
      `${EXCHANGE} It answered: invalid_grant: No.`,
      { auth_method: 'none', client_id: 'public', client_secret: null },
    ],
    [
      'has the words of UserInfo',
      { pages: { '/userinfo': { status: 401, headers: { 'WWW-Authenticate': BEARER } } } },
      'The UserInfo response of the identity provider cannot be used. It answered: invalid_token: Not today.',
    ],
    [
      'quotes no error of the runtime',
      { pages: { '/jwks': { body: '{"keys":[{"kty":"RSA","kid":"k1"}]}' } } },
      'The signature of the ID token is not valid.',
    ],
    [
      'quotes 300 characters of a claim',
      { claims: { azp: 'x'.repeat(1000) } },
      `The ID token is not valid. "azp" must be absent, or rp. It is ${'x'.repeat(300)}.`,
    ],
  ])('%s', async (_, faults, message, changes) => {
    await expect(signIn(clientOf(await faultyHost(faults), changes))).rejects.toMatchObject({ message })
  })
})

describe('a record', () => {
  it('says of every claim whether it is right, though the library stops at the first that is wrong', async () => {
    const steps: SignInStep[] = []
    const claims = {
      iss: 'https://evil.faulty.dev',
      aud: 'another',
      nonce: 'another',
      exp: -60,
      iat: -7200,
      azp: 'x',
      sub: '',
    }
    await expect(signIn(clientOf(await faultyHost({ claims })), { steps })).rejects.toThrow('"exp"')
    const wrong = steps.filter(({ ok }) => !ok).map(({ name }) => name)
    expect(wrong).toEqual(
      ['iss', 'aud', 'exp', 'nonce', 'azp', 'iat', 'sub'].map((name) => `ID token: ${name}`).concat('ID token'),
    )
    expect(steps.find(({ name }) => name.endsWith('aud'))).toMatchObject({ expected: 'rp', got: 'another' })
  })

  it.each<[string, Faults, string[]]>([
    [
      'claims that are not there',
      { claims: { iss: null, aud: null, nonce: null, exp: null, iat: null, sub: null } },
      ['iss', 'aud', 'exp', 'nonce', 'iat', 'sub'],
    ],
    ['times that are texts', { claims: { exp: '4102444800', iat: '0' } }, ['exp', 'iat']],
    ['a subject that is a number', { claims: { sub: 1 } }, ['sub']],
    ['a subject that is too long', { claims: { sub: 's'.repeat(256) } }, ['sub']],
    ['an HMAC', { alg: 'HS256' }, ['alg']],
    ['no signature', { alg: 'none' }, ['alg']],
    [
      'an algorithm that is not announced',
      { alg: 'ES256', discovery: { id_token_signing_alg_values_supported: ['RS256'] } },
      ['alg'],
    ],
  ])('says what is wrong: %s', async (_, faults, wrong) => {
    const steps: SignInStep[] = []
    await expect(signIn(clientOf(await faultyHost(faults)), { steps })).rejects.toThrow()
    const claims = steps.filter(({ name }) => name.startsWith('ID token: '))
    expect(claims.filter(({ ok }) => !ok).map(({ name }) => name.replace('ID token: ', ''))).toEqual(wrong)
  })

  it.each(['a.b', `${btoa('{}')}.${btoa('[1]')}.c`, `${btoa('{}')}.${btoa('null')}.c`, 7])(
    'of an ID token that is junk says so: %s',
    async (id_token) => {
      const steps: SignInStep[] = []
      await expect(signIn(clientOf(await faultyHost({ tokens: { id_token } })), { steps })).rejects.toMatchObject({
        reason: 'id_token_refused',
      })
      expect(steps.at(-1)).toMatchObject({ name: 'ID token', ok: false })
      expect(steps.filter(({ name }) => name.startsWith('ID token: '))).toEqual([])
    },
  )

  it('says what a person lacks', async () => {
    const steps: SignInStep[] = []
    const nothing = { email: null, email_verified: null, name: null }
    await signIn(clientOf(await faultyHost({ claims: nothing, userinfo: nothing })), { steps })
    expect(steps.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['Email address', 'Email address verified'])
  })

  it('and messages repeat no secret, even where the provider does', async () => {
    const steps: SignInStep[] = []
    let secrets: string[] = []
    const host = await faultyHost({})
    const back = async ({ searchParams }: URL) => {
      const state = String(searchParams.get('state'))
      const { nonce, verifier } = await proofsOf(runtime(), state)
      secrets = [String(searchParams.get('code')), 's3cret', state, nonce, verifier]
      const error_description = `It has ${secrets.join(' and ')}.`
      await setHost(host, {
        pages: { '/token': { status: 400, body: JSON.stringify({ error: 'invalid_grant', error_description }) } },
      })
    }
    const error = await signIn(clientOf(host), { steps, back }).catch((error: Error) => error)
    expect(error).toMatchObject({
      reason: 'token_refused',
      message: expect.stringContaining('It has … and … and … and … and ….'),
    })
    for (const secret of secrets) expect(JSON.stringify([steps, String(error), { ...error }])).not.toContain(secret)
  })

  const long = 't0ken'.repeat(80)
  const quoted = 't0ken"and\\t0ken'
  it.each<[string, Faults]>([
    ['in the ID token', { claims: { azp: 's3cret' } }],
    ['in the ID token, and that is cut', { tokens: { access_token: long }, claims: { azp: long } }],
    ['in the name, and that is cut', { tokens: { access_token: long }, claims: { name: long } }],
    ['in an object of the ID token', { tokens: { access_token: quoted }, claims: { azp: { of: quoted } } }],
    ['in the name', { claims: { name: 'Ada s3cret' } }],
    ['as the subject', { claims: { sub: 's3cret' }, userinfo: { sub: 's3cret' } }],
    [
      'in an error of UserInfo',
      {
        tokens: { access_token: 'an access/token' },
        pages: {
          '/userinfo': {
            status: 401,
            headers: { 'WWW-Authenticate': 'Bearer error="invalid_token", error_description="an access/token"' },
          },
        },
      },
    ],
  ])('repeats no secret that the provider puts %s', async (_, faults) => {
    const steps: SignInStep[] = []
    const message = await signIn(clientOf(await faultyHost(faults)), { steps }).then(() => '', String)
    expect(steps.length).toBeGreaterThan(3)
    for (const secret of ['s3cret', 't0ken', 'an access/token']) expect(JSON.stringify(steps)).not.toContain(secret)
    for (const secret of ['s3cret', 't0ken', 'an access/token']) expect(message).not.toContain(secret)
  })
  it('repeats the secret neither as HTTP Basic nor as forms have it', async () => {
    for (const auth_method of ['client_secret_basic', 'client_secret_post'] as const) {
      const host = await faultyHost({ echo: ['/token'] })
      const client = clientOf(host, { auth_method, client_secret: 'a-b_c.d+e/f g' })
      const error: Error = await signIn(client).catch((error) => error)
      const [sent] = (await seenBy(host)).filter(({ method }) => method === 'POST')
      const [, basic = 'none'] = sent?.headers.authorization?.split(' ') ?? []
      const posted = /client_secret=([^&]+)/.exec(sent?.body ?? '')?.[1] ?? 'none'
      expect([basic, posted].filter((one) => one !== 'none')).toHaveLength(1)
      expect(error.message).toContain('invalid_grant: ')
      for (const spelled of [basic, posted, 'a-b_c.d+e/f g']) expect(error.message).not.toContain(spelled)
    }
  })
})
