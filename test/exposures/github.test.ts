import { beforeAll, describe, expect, it } from 'vitest'
import { NOTICES_A_DAY } from '../../src/accounts/limits'
import { newDeviceToken } from '../../src/devices/token'
import { sha256Hex } from '../../src/lib/crypto'
import { rawSignature } from '../../src/lib/der'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { insertConsumer } from '../consumers/rows'
import { newApi } from '../devices/devices'
import { insertDevice } from '../devices/rows'
import { call, countingD1, DIRECTORY, freshKey, mailbox, STORE, seenBy, setHost, signedIn } from '../harness'
import {
  derOf,
  HOST,
  PATH,
  publish,
  publishNewKey,
  reported,
  SAMPLE,
  send,
  sendSigned,
  sign,
  URL_OF_FILE,
} from './from-github'
import { logged, madeUp, noticesIn } from './world'

beforeAll(async () => {
  stopClock()
  await publishNewKey()
})

const asked = async () => (await seenBy(HOST)).length

describe('the signature', () => {
  it('of the sample of GitHub’s documentation is good', async () => {
    const { status, text } = await send(SAMPLE.body, SAMPLE.id, SAMPLE.signature)
    expect([status, JSON.parse(text)]).toEqual([
      200,
      [{ token_hash: await sha256Hex('some_token'), token_type: 'some_type', label: 'false_positive' }],
    ])
    const der = Uint8Array.fromBase64(SAMPLE.signature) as Uint8Array<ArrayBuffer>
    expect(der[3 + 33 + 2]).toBe(31)
    expect(rawSignature(der)?.[32]).toBe(0)
  })

  it('is read in each form that DER has, and in no other', async () => {
    for (let i = 0; i < 300; i++) {
      const raw = crypto.getRandomValues(new Uint8Array(64))
      raw.fill(0, 0, i % 5)
      raw.fill(0, 32, 32 + (i % 7))
      const der = derOf(raw)
      expect(rawSignature(der)).toEqual(raw)
      expect(rawSignature(der.subarray(0, -1))).toBeNull()
      expect(rawSignature(new Uint8Array([...der, 0]))).toBeNull()
      // Nor with a third part, though the length counts it.
      expect(rawSignature(new Uint8Array([0x30, der.length, ...der.subarray(2), 5, 0]))).toBeNull()
    }
    for (const bad of [[], [0x30], [0x30, 0], [0x30, 2, 2, 0], [0x30, 6, 2, 1, 1, 3, 1, 1], Array(64).fill(1)])
      expect(rawSignature(new Uint8Array(bad))).toBeNull()
    for (const length of [33, 34]) {
      const long = [2, length, ...Array(length).fill(1)]
      expect(rawSignature(new Uint8Array([0x30, length + 5, ...long, 2, 1, 1]))).toBeNull()
      expect(rawSignature(new Uint8Array([0x30, length + 5, 2, 1, 1, ...long]))).toBeNull()
    }
  })

  it('that is made up revokes nothing', async () => {
    const { project, key, secret } = await freshKey()
    const body = reported([secret])
    const good = await sign(body)
    const tries = [
      [body, null, good, 'signature_missing'],
      [body, 'own', null, 'signature_missing'],
      [body, 'own', 'not base64', 'signature_malformed'],
      [body, 'own', 'AAAA', 'signature_malformed'],
      [body, 'own', await sign('[]'), 'signature_mismatch'],
      [body, SAMPLE.id, good, 'signature_mismatch'],
      [body, 'unknown', good, 'signature_mismatch'],
      [body, 'former', good, 'signature_mismatch'],
      [`${body} `, 'own', good, 'signature_mismatch'],
    ] as const
    for (const [sent, id, signature, code] of tries) {
      const { status, text } = await send(sent, id, signature)
      expect([status, JSON.parse(text).code]).toEqual([401, code])
    }
    expect((await call('/platform/v1/api-keys/self', { token: secret, project })).status).toBe(200)
    expect(await logged(key.id)).toEqual([])
  })
})

describe('GitHub’s keys', () => {
  it('are asked for again after an hour, with a condition; for an unknown one at most once a minute', async () => {
    stopClock()
    advance(2 * HOUR)
    await publish()
    await sendSigned('[]')
    await sendSigned('[]')
    expect(await asked()).toBe(1)
    for (let i = 0; i < 5; i++) await send('[]', `unknown-${i}`, SAMPLE.signature)
    expect(await asked()).toBe(1)
    advance(MINUTE)
    for (let i = 0; i < 5; i++) await send('[]', `unknown-${i}`, SAMPLE.signature)
    expect(await asked()).toBe(2)
    advance(HOUR)
    await setHost(HOST, { [PATH]: { status: 304, headers: {} } })
    expect((await sendSigned('[]')).status).toBe(200)
    const headers = (await seenBy(HOST))[0]?.headers ?? {}
    expect([headers['if-none-match'], headers['user-agent']]).toEqual(['"1"', 'platform-api-exposures/1'])
  })

  it('that cannot be read are a 502 for a key that is not known, and ten seconds pass before they are asked for again', async () => {
    stopClock()
    advance(4 * HOUR)
    for (const answer of [
      { status: 500 },
      { body: 'no' },
      { body: '{"public_keys":[{}]}' },
      { body: 'x'.repeat(70_000) },
    ]) {
      await setHost(HOST, { [PATH]: answer })
      const unknown = async () => (await send('[]', 'unknown', SAMPLE.signature)).status
      expect([await unknown(), await unknown(), await asked()]).toEqual([502, 502, 1])
      expect((await sendSigned('[]')).status).toBe(200) // with a key that is known
      advance(MINUTE)
    }
    await publish()
    expect((await sendSigned('[]')).status).toBe(200)
  })
})

describe('GitHub’s keys, to the millisecond', () => {
  it('are used for an hour, also after a 304, and asked for an unknown id after a minute', async () => {
    stopClock()
    advance(24 * HOUR)
    await publish()
    const unknown = async () => (await send('[]', 'unknown', SAMPLE.signature)).status
    await sendSigned('[]')
    for (const [ms, ask, times] of [
      [MINUTE - 1, unknown, 1],
      [1, unknown, 2],
      [HOUR - 1, () => sendSigned('[]'), 2],
      [1, () => sendSigned('[]'), 3],
    ] as const) {
      advance(ms)
      await ask()
      expect(await asked()).toBe(times)
    }
    await setHost(HOST, { [PATH]: { status: 304, headers: {} } })
    for (const [ms, times] of [
      [HOUR, 1],
      [HOUR - 1, 1],
      [1, 2],
    ] as const) {
      advance(ms)
      expect([(await sendSigned('[]')).status, await asked()]).toEqual([200, times])
    }
  })

  it('that could not be read are asked for again after ten seconds, also where the known ones are used', async () => {
    stopClock()
    advance(48 * HOUR)
    await setHost(HOST, { [PATH]: { status: 500 } })
    for (const [ms, times] of [
      [0, 1],
      [10_000 - 1, 1],
      [1, 2],
    ] as const) {
      advance(ms)
      expect([(await sendSigned('[]')).status, await asked()]).toEqual([200, times])
    }
    const refused = await send('[]', 'unknown', SAMPLE.signature)
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([502, 'vendor_failed'])
    expect(JSON.parse(refused.text).detail).toContain('it did not give them a moment ago')
  })

  it('are twenty at most, and one that cannot be read spoils the others', async () => {
    stopClock()
    advance(72 * HOUR)
    const more = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ key_identifier: `k${i}`, key: SAMPLE.key, is_current: true }))
    const [twenty, tooMany] = [more(17), more(18)]
    const ask = async (also: typeof twenty, id: string) => {
      advance(2 * MINUTE)
      await publish(also)
      return (await send(SAMPLE.body, id, SAMPLE.signature)).status
    }
    expect(await ask(twenty, 'k16')).toBe(200)
    expect(await ask(tooMany, 'k17')).toBe(502)
    expect(await ask([{ key_identifier: 'bad', key: '!', is_current: true }], 'other')).toBe(502)
    // One that is no longer there is not used any more.
    expect(await ask([], 'former')).toBe(401)
    expect(await ask([], 'k16')).toBe(401)
  })
})

describe('a report', () => {
  it('knows the secrets that a key had, and forgets the tokens that a device had', async () => {
    const { project, owner, key, secret } = await freshKey()
    const rotate = async (json: object) => {
      const path = `/platform/v1/api-keys/${key.id}/rotate`
      return (await call(path, { method: 'POST', token: owner.token, project, json })).body.secret as string
    }
    const current = await rotate({})
    const ended = await rotate({ when: 'first_use' })
    await call(`/platform/v1/api-keys/${key.id}/pending-secret`, { method: 'DELETE', token: owner.token, project })
    const { text } = await sendSigned(reported([secret, ended, madeUp()]))
    const labels = (JSON.parse(text) as { label: string }[]).map(({ label }) => label)
    expect(labels).toEqual(['true_positive', 'true_positive', 'false_positive'])
    // What was replaced ends nothing.
    expect((await call('/platform/v1/api-keys/self', { token: current, project })).status).toBe(200)
    const { token } = await signedIn()
    const sessions = async () => JSON.parse((await sendSigned(reported([token]))).text)[0].label
    expect([await sessions(), await sessions()]).toEqual(['true_positive', 'false_positive'])
  })

  it('knows the token of a device that waits, and the replaced one as long as it works', async () => {
    const { api } = await newApi()
    const cases = [
      [{ grace_s: 3_600 }, 'previous', 'true_positive', 'revoked'],
      [{ when: 'first_use' }, 'pending', 'true_positive', 'revoked'],
      [{}, 'previous', 'false_positive', 'active'],
    ] as const
    const tokens: string[] = []
    const ids: string[] = []
    for (const [i, [how, which]] of cases.entries()) {
      const { device, token } = (await api.register('ext:u', `k${i}`, { platform: 'server' })).body
      const fresh = (await api.rotate('ext:u', device.id, how)).body.token
      tokens.push(which === 'pending' ? fresh : token)
      ids.push(device.id)
    }
    const labels = JSON.parse((await sendSigned(reported(tokens))).text).map(({ label }: { label: string }) => label)
    expect(labels).toEqual(cases.map(([, , label]) => label))
    const states = await Promise.all(ids.map(async (id) => (await api.one('ext:u', id)).body.state))
    expect(states).toEqual(cases.map(([, , , state]) => state))
  })

  it('about sessions of two users, of whom one has had all emails of the day, is mailed to the other', async () => {
    const [told, full] = [await signedIn(), await signedIn()]
    await DIRECTORY.prepare('UPDATE users SET notices_day = ?, notices_sent = ? WHERE id = ?')
      .bind(Math.floor(Date.now() / DAY), NOTICES_A_DAY, full.user)
      .run()
    const { EMAIL, mails } = mailbox()
    await sendSigned(reported([told.token, full.token]), { bindings: { EMAIL } })
    expect(mails.map(({ to }) => to)).toEqual([told.email])
    for (const { token } of [told, full]) expect((await call('/auth/user', { token })).status).toBe(401)
  })

  it('has 1,000 tokens and 1 MiB at most, in UTF-8', async () => {
    const tokens = await sendSigned(reported(Array(1_000).fill('x')))
    expect([tokens.status, JSON.parse(tokens.text).length]).toEqual([200, 1_000])
    const spaces = (n: number) => `[${' '.repeat(n - 2)}]`
    expect((await sendSigned(spaces(1024 * 1024))).status).toBe(200)
    expect((await sendSigned(spaces(1024 * 1024 + 1))).status).toBe(413)
    const { status, text } = await sendSigned('\ufeff[]')
    expect([status, text]).toEqual([200, '[]'])
    const bytes = new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d])
    const headers = {
      'Github-Public-Key-Identifier': 'own',
      'Github-Public-Key-Signature': await sign(bytes),
    }
    const bad = await call('/exposures/github', { method: 'POST', body: bytes, headers })
    expect([bad.status, bad.body.code]).toEqual([400, 'invalid_json'])
  })

  it('puts onto the notice where it was found, on one line of 300 characters', async () => {
    const { project, secret } = await freshKey()
    const url = `https://github.com/a\n\u202eb/${'c'.repeat(400)}`
    const body = JSON.stringify([{ token: secret, type: 't', url, source: '' }])
    expect((await sendSigned(body)).status).toBe(200)
    const [{ facts } = { facts: {} as Record<string, unknown> }] = await noticesIn(project)
    expect(facts).toMatchObject({ url: `https://github.com/a b/${'c'.repeat(277)}`, source: null })
    expect(String(facts.url)).toHaveLength(300)
  })

  it('says for each token what it is, and where it was found is on the notice', async () => {
    const { project, owner, key, secret } = await freshKey()
    const rotation = { method: 'POST', token: owner.token, project, json: { when: 'first_use' } }
    const waiting = (await call(`/platform/v1/api-keys/${key.id}/rotate`, rotation)).body.secret
    const { text } = await sendSigned(reported([secret, madeUp(), 'x', secret, waiting]))
    const labels = JSON.parse(text).map(({ label }: { label: string }) => label === 'true_positive')
    expect(labels).toEqual([true, false, false, true, true])
    expect(await logged(key.id)).toHaveLength(1)
    expect(await noticesIn(project)).toMatchObject([{ facts: { source: 'commit', url: URL_OF_FILE } }])
    // It no longer works, and is a secret of ours all the same.
    expect(JSON.parse((await sendSigned(reported([secret]))).text)).toMatchObject([{ label: 'true_positive' }])
  })

  it('with two secrets of a key that is only told of is told of for both', async () => {
    const { project, owner, key, secret } = await freshKey()
    const json = { settings: { on_exposure: 'notify' } }
    await call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, project, json })
    const rotation = { method: 'POST', token: owner.token, project, json: { when: 'first_use' } }
    const waiting = (await call(`/platform/v1/api-keys/${key.id}/rotate`, rotation)).body.secret
    for (let i = 0; i < 2; i++) await sendSigned(reported([secret, waiting, secret]))
    const entries = (await logged(key.id)).map(([action, , { secret }]) => `${action}: ${secret}`)
    expect(entries.toSorted()).toEqual(['api_key.exposed: current', 'api_key.exposed: pending'])
    const facts = { secret: 'pending', earlier: key.key_prefix }
    expect(await noticesIn(project)).toMatchObject([{ facts }])
  })

  it('counts once for all of its tokens, before anything else', async () => {
    const counted: unknown[] = []
    const limiter = { limit: async (one: unknown) => ({ success: counted.push(one) < 2 }) } as RateLimit
    const options = { bindings: { LIMIT_EXPOSURES: limiter } }
    const body = reported(Array.from({ length: 500 }, madeUp))
    expect((await sendSigned(body, options)).status).toBe(200)
    expect((await send(body, null, null, options)).status).toBe(429)
    expect(counted).toHaveLength(2)
  })

  it('is refused if it is too large or malformed, and what GitHub adds does no harm', async () => {
    const many = reported(Array(1001).fill('x'))
    expect((await sendSigned(many)).status).toBe(422)
    expect((await sendSigned(`[${' '.repeat(1_100_000)}]`)).status).toBe(413)
    for (const [body, status] of [
      ['', 400],
      ['{', 400],
      ['{}', 422],
      ['[1]', 422],
      ['[{"token":1,"type":"t"}]', 422],
      ['[]', 200],
      ['[{"token":"t","type":"t","new":1}]', 200],
    ] as const)
      expect([body, (await sendSigned(body)).status]).toEqual([body, status])
  })

  it('with 500 tokens of keys, devices and sessions ends all of them in a few trips', async () => {
    const { project } = await freshKey()
    const consumer = await insertConsumer(project, 'many')
    const keys = Array.from({ length: 200 }, madeUp)
    const tokens = await Promise.all(Array.from({ length: 200 }, newDeviceToken))
    const row = await STORE.prepare('SELECT * FROM api_keys WHERE project_id = ?').bind(project).first()
    const columns = Object.keys(row ?? {})
    const insert = STORE.prepare(`INSERT INTO api_keys (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
    const hashes = await Promise.all(keys.map((key) => sha256Hex(key)))
    await STORE.batch(
      hashes.map((hash, i) =>
        insert.bind(
          ...columns.map((name) => (({ id: `key_many${i}`, hash }) as Record<string, string>)[name] ?? row?.[name]),
        ),
      ),
    )
    for (const { hash } of tokens) await insertDevice(project, consumer, { token_hash: hash })
    const sessions = await Promise.all(Array.from({ length: 100 }, () => signedIn()))
    const all = [...keys, ...tokens.map(({ token }) => token), ...sessions.map(({ token }) => token)]
    const { DB, count } = countingD1()
    const { text } = await sendSigned(reported(all), { bindings: { DB } })
    expect(JSON.parse(text).every(({ label }: { label: string }) => label === 'true_positive')).toBe(true)
    const left = await STORE.prepare(
      `SELECT (SELECT count(*) FROM api_keys WHERE id LIKE 'key_many%' AND revoked_at IS NULL)
        + (SELECT count(*) FROM devices WHERE consumer_id = ? AND state = 'active') AS n`,
    )
      .bind(consumer)
      .first('n')
    expect(left).toBe(0)
    const entries = await STORE.prepare(
      "SELECT count(*) AS n FROM audit_log WHERE project_id = ? AND actor_id = 'exposures'",
    )
      .bind(project)
      .first('n')
    expect(entries).toBe(400)
    for (const { token } of sessions.slice(0, 3)) expect((await call('/auth/user', { token })).status).toBe(401)
    expect(count.rows_read).toBeLessThan(30_000)
    expect(count.trips).toBeLessThanOrEqual(8)
    expect(await noticesIn(project)).toHaveLength(400)
  })
})
