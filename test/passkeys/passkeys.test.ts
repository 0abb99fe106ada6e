import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/lib/crypto'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import {
  call,
  captureConsole,
  countingD1,
  D1_LOST,
  DIRECTORY,
  failingD1,
  freshAddress,
  LIMIT_REACHED,
  signedIn,
  storedText,
  tamperedD1,
  unconfirm,
} from '../harness'
import { current } from '../sessions/signing-in'
import { type Authenticator, cbor, newAuthenticator, toUrl, type Wrong } from './authenticator'
import { byCode, creationOptions, prove, register, requestOptions, signInBy, withPasskey } from './people'

const told = ({ status, body }: { status: number; body: { code?: string } }) => [status, body?.code]
const list = async (token: string) => (await call('/auth/passkeys', { token })).body.data
const remove = (token: string, id: string) => call(`/auth/passkeys/${id}`, { method: 'DELETE', token })

describe('a passkey', () => {
  it('is registered, listed, renamed, used to sign in, and deleted', async () => {
    const { token, user, email } = await signedIn()
    const { answer, authenticator } = await register(token, { name: 'Laptop' })
    expect(answer.status).toBe(201)
    const shown = {
      id: expect.stringMatching(/^psk_/),
      name: 'Laptop',
      backed_up: true,
      transports: ['internal'],
      created_at: expect.any(String),
      last_used_at: null,
    }
    expect(answer.body.passkey).toEqual(shown)
    expect(await list(token)).toEqual([shown])
    const { id } = answer.body.passkey
    const renamed = await call(`/auth/passkeys/${id}`, { method: 'PATCH', token, json: { name: 'Phone' } })
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Phone'])

    const { status, body } = await signInBy(await authenticator.get(await requestOptions()))
    expect([status, body.user]).toEqual([201, { id: user, email }])
    const { session } = (await current(body.token)).body
    expect(session.second_factor_at).toEqual(session.created_at)
    expect(Date.parse(session.confirmed_until) - Date.parse(session.created_at)).toBe(10 * MINUTE)
    expect((await list(token))[0].last_used_at).toEqual(session.created_at)

    expect((await remove(body.token, id)).status).toBe(204)
    expect(told(await remove(body.token, id))).toEqual([404, 'not_found'])
    expect(told(await signInBy(await authenticator.get(await requestOptions())))).toEqual([401, 'invalid_passkey'])
    expect((await current(body.token)).status).toBe(200)
  })

  it('asks the browser for a discoverable passkey of this site, with the user verified, and excludes those that are there', async () => {
    const { token, user, email, authenticator } = await withPasskey()
    expect(await creationOptions(token)).toMatchObject({
      rp: { id: 'platform.test', name: 'Platform API' },
      user: { id: toUrl(utf8(user)), name: email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: authenticator.id, transports: ['internal'] }],
    })
    const options = await requestOptions()
    expect(options).toMatchObject({ rpId: 'platform.test', userVerification: 'required' })
    expect(options).not.toHaveProperty('allowCredentials')
    const { body } = await call('/auth/session/passkey/options', { method: 'POST', token })
    expect(body.options).toMatchObject({ allowCredentials: [{ id: authenticator.id }] })
  })

  it('belongs to the host of PUBLIC_ORIGIN, or of the request where that is this machine', async () => {
    const options = (origin: string, url: string) =>
      call(url, { method: 'POST', bindings: { PUBLIC_ORIGIN: origin, OTHER_HOSTS: 'platform.test' } }).then(
        ({ status, body }) => [status, (body.options as Record<string, unknown>)?.rpId ?? body.code],
      )
    const path = '/auth/passkeys/challenge'
    expect(await options('https://api.example.com', path)).toEqual([200, 'api.example.com'])
    expect(await options('', `http://localhost:8787${path}`)).toEqual([200, 'localhost'])
    expect(await options('', path)).toEqual([503, 'public_origin_missing'])
  })

  it.each<[string, Wrong]>([
    ['from another origin', { origin: 'https://evil.test' }],
    ['for another site', { rpId: 'evil.test' }],
    ['without verifying the user', { verified: false }],
    ['without the user present', { present: false }],
    ['of another type', { type: 'webauthn.get' }],
    ['to another challenge', { challenge: toUrl(utf8('pch_0.0')) }],
    ['with a certificate', { format: ['packed', cbor.map([[cbor.text('x5c'), cbor.list([cbor.bytes(utf8('x'))])]])] }],
    ['with an attestation of another format', { format: ['tpm', cbor.map([])] }],
  ])('is not registered by an answer %s', async (_, wrong) => {
    const { token } = await signedIn()
    expect(told((await register(token, wrong)).answer)).toEqual([422, 'registration_refused'])
    expect(await list(token)).toEqual([])
    expect((await current(token)).body.session.second_factor_at).toBeNull()
  })

  it.each<[string, Wrong]>([
    ['from another origin', { origin: 'https://evil.test' }],
    ['for another site', { rpId: 'evil.test' }],
    ['without verifying the user', { verified: false }],
    ['without the user present', { present: false }],
    ['of another type', { type: 'webauthn.create' }],
    ['to another challenge', { challenge: toUrl(utf8('pch_0.0')) }],
    ['that names another user', { userHandle: toUrl(utf8('usr_other')) }],
  ])('signs nobody in by an answer %s', async (_, wrong) => {
    const { authenticator, token } = await withPasskey()
    expect(told(await signInBy(await authenticator.get(await requestOptions(), wrong)))).toEqual([
      401,
      'invalid_passkey',
    ])
    const answer = await prove(token, authenticator, wrong)
    expect(told(answer)).toEqual([401, 'invalid_passkey'])
  })

  it('signs nobody in with the signature of another key, or changed', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()]
    const options = await requestOptions()
    const [mine, theirs] = [await one.authenticator.get(options), await other.authenticator.get(options)]
    const mixed = { ...mine, response: { ...theirs.response, userHandle: mine.response.userHandle } }
    expect(told(await signInBy(mixed))).toEqual([401, 'invalid_passkey'])
    const unknown = await (await newAuthenticator()).get(options)
    expect(told(await signInBy(unknown))).toEqual([401, 'invalid_passkey'])
    expect((await signInBy(mine)).status).toBe(201)
  })

  it('is refused where its count of signatures goes back, which a copy of it would show', async () => {
    const { authenticator } = await withPasskey()
    const sign = async (counter: number) => signInBy(await authenticator.get(await requestOptions(), { counter }))
    expect((await sign(7)).status).toBe(201)
    expect(told(await sign(7))).toEqual([401, 'invalid_passkey'])
    expect(told(await sign(6))).toEqual([401, 'invalid_passkey'])
    expect(told(await sign(0))).toEqual([401, 'invalid_passkey'])
    expect((await sign(8)).status).toBe(201)
  })

  it('opens one session where it and a copy of it sign at once', async () => {
    const { authenticator } = await withPasskey()
    const sign = async (counter: number) => authenticator.get(await requestOptions(), { counter })
    const [mine, copied] = [await sign(7), await sign(9)]
    let copy: unknown
    const DB = tamperedD1(async ({ sql, run }) => {
      if (copy === undefined && sql.includes('insert into "sessions"')) {
        copy = null
        copy = told(await signInBy(copied))
      }
      return run()
    })
    expect(told(await signInBy(mine, { bindings: { DB } }))).toEqual([401, 'invalid_passkey'])
    expect(copy).toEqual([201, undefined])
  })

  it('without a count of signatures is used again and again', async () => {
    const { authenticator } = await withPasskey()
    const sign = async () => signInBy(await authenticator.get(await requestOptions(), { counter: 0 }))
    for (let i = 0; i < 3; i++) expect((await sign()).status).toBe(201)
  })

  it('is one of ten', async () => {
    const { token } = await withPasskey()
    for (let i = 0; i < 8; i++) expect((await register(token)).answer.status).toBe(201)
    const both = [await creationOptions(token), await creationOptions(token)]
    const tenth = await Promise.all(
      both.map(async (options) => {
        const credential = await (await newAuthenticator()).create(options)
        return call('/auth/passkeys', { method: 'POST', token, json: { credential } })
      }),
    )
    expect(tenth.map(told).sort()).toEqual([
      [201, undefined],
      [409, 'passkey_limit_reached'],
    ])
    expect(await list(token)).toHaveLength(10)
    expect(told(await call('/auth/passkeys/options', { method: 'POST', token }))).toEqual([
      409,
      'passkey_limit_reached',
    ])
  })

  it('has a credential that nobody else can register', async () => {
    const { authenticator } = await withPasskey()
    const { token } = await signedIn()
    const again = await register(token, {}, Promise.resolve(authenticator))
    expect(told(again.answer)).toEqual([409, 'passkey_exists'])
    expect(await list(token)).toEqual([])
    // The challenge was not used up, and the session has no second factor.
    expect((await current(token)).body.session.second_factor_at).toBeNull()
  })

  it('is not renamed or deleted by anybody else', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const { id } = mine.passkey
    const path = `/auth/passkeys/${id}`
    expect(told(await call(path, { method: 'PATCH', token: theirs.token, json: { name: 'x' } }))).toEqual([
      404,
      'not_found',
    ])
    expect(told(await remove(theirs.token, id))).toEqual([404, 'not_found'])
    expect((await list(mine.token))[0].name).toBe('Passkey')
  })
})

describe('a challenge', () => {
  const sign = async (authenticator: Authenticator) => authenticator.get(await requestOptions())

  it('is answered once', async () => {
    const { authenticator, token } = await withPasskey()
    const credential = await sign(authenticator)
    expect((await signInBy(credential)).status).toBe(201)
    expect(told(await signInBy(credential))).toEqual([401, 'invalid_passkey'])
    const options = await requestOptions()
    const [one, two] = [
      await authenticator.get(options, { counter: 0 }),
      await authenticator.get(options, { counter: 0 }),
    ]
    // Its count of signatures is not what refuses a second answer.
    await DIRECTORY.prepare('UPDATE passkeys SET counter = 0').run()
    const answers = await Promise.all([signInBy(one), signInBy(two), signInBy(one)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401])
    const registered = await register(token)
    const again = await call('/auth/passkeys', { method: 'POST', token, json: { credential: registered.credential } })
    expect(told(again)).toEqual([422, 'registration_refused'])
  })

  it('is valid for five minutes', async () => {
    stopClock()
    const { authenticator } = await withPasskey()
    const [early, late] = [await sign(authenticator), await sign(authenticator)]
    advance(5 * MINUTE - 1)
    expect((await signInBy(early)).status).toBe(201)
    advance(1)
    expect(told(await signInBy(late))).toEqual([401, 'invalid_passkey'])
  })

  it('is for its own purpose and session', async () => {
    const person = await withPasskey()
    const { authenticator, token } = person
    const other = await byCode(person)
    const toSignIn = await authenticator.get(await requestOptions())
    const used = (of: string, credential: unknown) =>
      call('/auth/session/passkey', { method: 'POST', token: of, json: { credential } })
    expect(told(await used(token, toSignIn))).toEqual([401, 'invalid_passkey'])
    const { body } = await call('/auth/session/passkey/options', { method: 'POST', token })
    const toProve = await authenticator.get(body.options as never)
    expect(told(await used(other.token, toProve))).toEqual([401, 'invalid_passkey'])
    expect(told(await signInBy(toProve))).toEqual([401, 'invalid_passkey'])
    expect((await used(token, toProve)).status).toBe(204)
    // The challenge for a new passkey signs nobody in, and proves nothing.
    const { challenge } = (await creationOptions(token)) as { challenge: string }
    expect(told(await signInBy(await authenticator.get(await requestOptions(), { challenge })))).toEqual([
      401,
      'invalid_passkey',
    ])
    expect(told(await prove(token, authenticator, { challenge }))).toEqual([401, 'invalid_passkey'])
    // Options for a new passkey are for the session that asked for them.
    const stranger = await signedIn()
    const credential = await (await newAuthenticator()).create(await creationOptions(stranger.token))
    expect(told(await call('/auth/passkeys', { method: 'POST', token, json: { credential } }))).toEqual([
      422,
      'registration_refused',
    ])
  })

  it('costs nothing until it is answered', async () => {
    const { DB, count } = countingD1()
    await call('/auth/passkeys/challenge', { method: 'POST', bindings: { DB } })
    expect(count.trips).toBe(0)
  })
})

describe('the calls', () => {
  it('cost a trip to read and a trip to write', async () => {
    const { authenticator, token } = await withPasskey()
    const credential = await authenticator.get(await requestOptions())
    const signIn = countingD1()
    expect((await signInBy(credential, { bindings: { DB: signIn.DB } })).status).toBe(201)
    // The challenge, the session with its two indexes, the passkey; the event and the browser, each with an index; the email.
    expect(signIn.count).toMatchObject({ trips: 2, rows_written: 10 })
    const proof = countingD1()
    expect((await prove(token, authenticator, {}, { bindings: { DB: proof.DB } })).status).toBe(204)
    expect(proof.count).toMatchObject({ trips: 3, rows_written: 5 })
    // With the first passkey come ten recovery codes.
    const stranger = await signedIn()
    for (const rows_written of [20, 8]) {
      const credential = await (await newAuthenticator()).create(await creationOptions(stranger.token))
      const { DB, count } = countingD1()
      const options = { method: 'POST', token: stranger.token, json: { credential }, bindings: { DB } }
      expect((await call('/auth/passkeys', options)).status).toBe(201)
      expect(count).toMatchObject({ trips: 2, rows_written })
    }
  })

  it('are limited as signing in is', async () => {
    const { token } = await withPasskey()
    const ask = (path: string, json: object | undefined, more: object) =>
      call(path, { method: 'POST', token: path.includes('session/') ? token : null, json, ...more })
    const full = { bindings: { LIMIT_PUBLIC: LIMIT_REACHED } }
    expect(told(await ask('/auth/passkeys/challenge', undefined, full))).toEqual([429, 'rate_limited'])
    const credential = await (await newAuthenticator()).get(await requestOptions())
    for (const [path, json] of [
      ['/auth/sessions/passkey', { credential }],
      ['/auth/session/passkey', { credential }],
      ['/auth/session/recovery-code', { code: 'x' }],
    ] as const) {
      const headers = { 'CF-Connecting-IP': freshAddress() }
      // A database that does not answer is no failed attempt.
      const DB = failingD1(D1_LOST)
      expect((await ask(path, json, { headers, bindings: { LIMIT_SIGN_IN: LIMIT_REACHED, DB } })).status).toBe(503)
      const failed = await ask(path, json, { headers, bindings: { LIMIT_SIGN_IN: LIMIT_REACHED } })
      expect([path, failed.status]).toEqual([path, 401])
      expect([path, ...told(await ask(path, json, { headers }))]).toEqual([path, 429, 'rate_limited'])
    }
  })

  it('that change passkeys need a session that was confirmed', async () => {
    const { user, token, passkey } = await withPasskey()
    await unconfirm(user)
    for (const [method, path] of [
      ['POST', '/auth/passkeys/options'],
      ['DELETE', `/auth/passkeys/${passkey.id}`],
      ['POST', '/auth/recovery-codes'],
    ] as const) {
      expect(told(await call(path, { method, token }))).toEqual([403, 'confirmation_required'])
    }
  })

  it('store and log no challenge and no recovery code as it was sent', async () => {
    const logged = captureConsole()
    const { codes, authenticator, token: own } = await withPasskey()
    await call('/auth/session/recovery-code', { method: 'POST', token: own, json: { code: codes[0] } })
    const options = (await requestOptions()) as { challenge: string }
    const credential = await authenticator.get(options)
    const { body } = await signInBy(credential)
    expect((await signInBy(credential)).status).toBe(401)
    const stored = (await storedText()) + logged.join('\n')
    expect(stored).toContain(authenticator.id)
    expect(logged.join()).toContain('/auth/session/recovery-code')
    expect(stored).not.toContain(body.token.slice(7))
    for (const secret of [options.challenge, ...codes.flatMap((code) => [code, code.replace('-', '')])]) {
      expect(stored).not.toContain(secret)
    }
  })
})
