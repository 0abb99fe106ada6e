import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_CONNECTIONS, MAX_SECRETS } from '../../../src/inbox/connections/limits'
import type { StoredSecret } from '../../../src/inbox/connections/schema'
import { sealContext, unseal } from '../../../src/lib/seal'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { bound, call, deliver, freshKey, STRIPE_SECRET, stripeConnection, stripeEvent } from '../../harness'
import { advance, captureLog, expectConsistent, newWorld, only, rows, settle, stopClock, type World } from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const stripe = (fields: Record<string, unknown> = {}) => ({
  vendor: 'stripe',
  name: 'Stripe',
  livemode: true,
  signing_secret: STRIPE_SECRET,
  ...fields,
})
const create = ({ api }: Pick<World, 'api'>, fields?: Record<string, unknown>) =>
  api('/connections', { method: 'POST', json: stripe(fields) })
const storedSecrets = async (id: string): Promise<StoredSecret[]> =>
  JSON.parse((await only(rows<{ secrets: string }>('SELECT secrets FROM connections WHERE id = ?', id))).secrets)
const audited = async (project: string) =>
  (
    await rows<{ action: string; details: string }>(
      "SELECT * FROM audit_log WHERE project_id = ? AND object_type = 'connection' ORDER BY id",
      project,
    )
  ).map(({ action, details }) => [action, JSON.parse(details)])

describe('a connection', () => {
  it('is made, read, listed, renamed, disabled and deleted, each with its audit row', async () => {
    const world = await newWorld()
    const { api, project } = world
    const { status, body: made } = await create(world, { name: 'Second', livemode: false })
    expect(status).toBe(201)
    expect(made).toEqual({
      id: expect.stringMatching(/^con_/),
      vendor: 'stripe',
      name: 'Second',
      livemode: false,
      customer_is_external_id: false,
      status: 'active',
      paused_at: null,
      releasing: false,
      ingest_url: `https://platform.test/ingest/${made.id}`,
      secrets: [
        {
          id: expect.stringMatching(/^sec_/),
          hint: 'know',
          created_at: new Date().toISOString(),
          added_by: { type: 'api_key', id: world.key.id },
          last_used_at: null,
        },
      ],
      verification: null,
      last_received_at: null,
      created_at: new Date().toISOString(),
    })
    const at = `/connections/${made.id}`
    expect((await api(at)).body).toEqual(made)
    expect((await api('/connections')).body.data.map(({ id }) => id).toSorted()).toEqual(
      [made.id, world.connection.id].toSorted(),
    )
    advance(SECOND)
    expect((await api(at, { method: 'PATCH', json: { name: 'Renamed' } })).body).toEqual({ ...made, name: 'Renamed' })
    advance(SECOND)
    expect((await api(at, { method: 'PATCH', json: { livemode: true } })).body).toMatchObject({ livemode: true })
    advance(SECOND)
    expect((await api(at, { method: 'PATCH', json: { livemode: false } })).body).toEqual({ ...made, name: 'Renamed' })
    advance(SECOND)
    const disabled = await api(at, { method: 'PATCH', json: { status: 'disabled' } })
    expect(disabled.body).toEqual({ ...made, name: 'Renamed', status: 'disabled' })
    advance(SECOND)
    expect((await api(at, { method: 'DELETE' })).status).toBe(204)
    for (const [path, method, json] of [
      [at, 'GET'],
      [at, 'DELETE'],
      [at, 'PATCH', { name: 'x' }],
      [`${at}/secrets`, 'POST', { signing_secret: STRIPE_SECRET }],
      [`${at}/secrets/${made.secrets[0].id}`, 'DELETE'],
    ] as const) {
      expect((await api(path, { method, json })).status).toBe(404)
    }
    expect((await api('/connections')).body.data.map(({ id }) => id)).toEqual([world.connection.id])
    expect(await storedSecrets(made.id)).toEqual([])
    expect((await audited(project)).slice(-5)).toEqual([
      ['connection.updated', { name: 'Renamed', before: { name: 'Second' } }],
      ['connection.updated', { livemode: true, before: { livemode: false } }],
      ['connection.updated', { livemode: false, before: { livemode: true } }],
      ['connection.updated', { status: 'disabled', before: { status: 'active' } }],
      ['connection.deleted', null],
    ])
  })

  it('is made without a secret, refuses what comes, and takes it once it has one', async () => {
    const world = await newWorld()
    const { status, body: made } = await create(world, { signing_secret: undefined })
    expect([status, made.secrets, made.ingest_url]).toEqual([201, [], `https://platform.test/ingest/${made.id}`])
    const event = stripeEvent()
    const refused = await deliver(made.id, event)
    expect([refused.status, refused.body.code]).toEqual([401, 'signature_mismatch'])
    expect(refused.body.detail).toContain('has no signing secret yet')
    const add = world.api(`/connections/${made.id}/secrets`, {
      method: 'POST',
      json: { signing_secret: STRIPE_SECRET },
    })
    await advance(2 * SECOND)
    expect((await add).status).toBe(201)
    expect((await deliver(made.id, event)).status).toBe(200)
  })

  it('says in the audit log which secret was added and which was removed, and by whom', async () => {
    const world = await newWorld()
    const { api, project, owner, connection } = world
    const at = `/connections/${connection.id}/secrets`
    const [old] = connection.secrets
    advance(SECOND)
    await api(at, { method: 'POST', json: { signing_secret: 'whsec_the_second_one' } })
    const added = (await api(`/connections/${connection.id}`)).body.secrets[1]?.id
    advance(SECOND)
    const removal = await api(`${at}/${old?.id}`, { method: 'DELETE', token: owner.token })
    expect([removal.status, (await api(`${at}/${old?.id}`, { method: 'DELETE' })).status]).toEqual([204, 404])
    const { body } = await call('/platform/v1/audit-log?action=connection.secret_*', { token: owner.token, project })
    expect(added).not.toBe(old?.id)
    expect(body.data).toEqual([
      expect.objectContaining({
        created_at: new Date().toISOString(),
        action: 'connection.secret_removed',
        actor: { type: 'user', id: owner.user, email: owner.email, name: null },
        object: { type: 'connection', id: connection.id },
        details: { secret_id: old?.id },
        request_id: removal.headers.get('X-Request-Id'),
      }),
      expect.objectContaining({
        action: 'connection.secret_added',
        actor: { type: 'api_key', id: world.key.id, email: null, name: expect.any(String) },
        object: { type: 'connection', id: connection.id },
        details: { secret_id: added },
      }),
    ])
  })

  it('tells when it last received, and which secret verified it', async () => {
    const world = await newWorld()
    const first = new Date().toISOString()
    await world.send(stripeEvent())
    advance(2 * MINUTE)
    const second = new Date().toISOString()
    await world.send(stripeEvent())
    const { body } = await world.api(`/connections/${world.connection.id}`)
    expect(first < second).toBe(true)
    expect(body).toMatchObject({ last_received_at: second, secrets: [{ last_used_at: second }] })
    await settle(world)
    await expectConsistent(world.project)
  })

  it('says by its livemode what its records show, also those of before; the event’s own word stands beside it', async () => {
    const world = await newWorld()
    const { body } = await world.send({ ...stripeEvent(), livemode: false })
    await settle(world)
    const found = async (livemode: boolean) =>
      (await world.api(`/webhooks/search?livemode=${livemode}`)).body.data.map(({ id }) => id)
    for (const livemode of [true, false]) {
      const at = `/connections/${world.connection.id}`
      expect((await world.api(at, { method: 'PATCH', json: { livemode } })).status).toBe(200)
      expect(await world.event(body.event_ids[0])).toMatchObject({ livemode, decoded_summary: { livemode: false } })
      expect([await found(livemode), await found(!livemode)]).toEqual([body.event_ids, []])
    }
  })

  it('of another project is not there', async () => {
    const world = await newWorld()
    const other = await newWorld()
    const at = `/connections/${world.connection.id}`
    for (const [path, method, json] of [
      [at, 'GET'],
      [at, 'PATCH', { status: 'disabled' }],
      [at, 'DELETE'],
      [`${at}/secrets`, 'POST', { signing_secret: STRIPE_SECRET }],
      [`${at}/secrets/${world.connection.secrets[0]?.id}`, 'DELETE'],
    ] as const) {
      expect(await other.api(path, { method, json })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await world.api(at)).body).toMatchObject({ status: 'active', secrets: [{ hint: 'know' }] })
    expect(await audited(other.project)).toHaveLength(1)
  })

  it.each([
    ['a vendor nobody knows', { vendor: 'acme' }],
    ['a vendor of Object.prototype', { vendor: 'constructor' }],
    ['an empty name', { name: '' }],
    ['a secret that is not of its vendor’s form', { signing_secret: 'sk_live_12345678' }],
    ['a short secret', { signing_secret: 'whsec_' }],
    ['one of a byte', { vendor: 'standard', signing_secret: 'whsec_YQ==' }],
    ['one of 23 bytes', { vendor: 'standard', signing_secret: `whsec_${btoa('x'.repeat(23))}` }],
    ['one of 65 bytes', { vendor: 'standard', signing_secret: `whsec_${btoa('x'.repeat(65))}` }],
    ['a pair of seven', { vendor: 'chargebee', signing_secret: 'usr:pwd' }],
    ['five characters', { vendor: 'lemonsqueezy', signing_secret: '12345' }],
    ['the name of an app, with something else than its number', { vendor: 'apple', signing_secret: 'com.example:x' }],
    ['the id that the simulator of PayPal signs with', { vendor: 'paypal', signing_secret: 'WEBHOOK_ID' }],
    ['null as its secret', { signing_secret: null }],
    ['a field it has not', { status: 'disabled' }],
    ['livemode as a text', { livemode: 'true' }],
  ])('is refused with %s', async (_, fields) => {
    const world = await newWorld()
    const answer = await create(world, fields)
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    expect((await world.api('/connections')).body.data).toHaveLength(1)
    expect(await audited(world.project)).toHaveLength(1)
  })
})

describe('limits', () => {
  it('hold a project to fifty connections, sixty asked for at once; a deleted one makes room', async () => {
    const { project, secret: token } = await freshKey()
    const api: World['api'] = (path, options = {}) =>
      call(`/platform/v1/billing${path}`, { token, project, ...options })
    const answers = await Promise.all(Array.from({ length: 60 }, () => create({ api })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_CONNECTIONS)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(10)
    for (const { status, body } of refused) expect([status, body.code]).toEqual([409, 'connection_limit_reached'])
    expect(await audited(project)).toHaveLength(MAX_CONNECTIONS)
    const one = answers.find(({ status }) => status === 201)?.body.id
    expect((await api(`/connections/${one}`, { method: 'DELETE' })).status).toBe(204)
    expect((await create({ api })).status).toBe(201)
    expect((await create({ api })).status).toBe(409)
  })

  it('hold a connection to five secrets, ten added at once; a removed one makes room', async () => {
    const world = await newWorld()
    const at = `/connections/${world.connection.id}/secrets`
    const add = (n: number) => world.api(at, { method: 'POST', json: { signing_secret: `whsec_secret_number_${n}` } })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => add(n)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_SECRETS - 1)
    for (const { status, body } of answers) if (status !== 201) expect(body.code).toBe('secret_limit_reached')
    expect(await storedSecrets(world.connection.id)).toHaveLength(MAX_SECRETS)
    expect((await audited(world.project)).filter(([action]) => action === 'connection.secret_added')).toHaveLength(4)
    const first = `${at}/${world.connection.secrets[0]?.id}`
    const removals = await Promise.all(Array.from({ length: 5 }, () => world.api(first, { method: 'DELETE' })))
    expect(removals.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect((await add(10)).status).toBe(201)
    expect((await add(11)).status).toBe(409)
  })
})

describe('a signing secret', () => {
  it.each([
    ['standard', `whsec_${btoa('x'.repeat(24))}`, 'eHh4'],
    ['standard', `whsec_${btoa('x'.repeat(64))}`, 'eA=='],
    ['stripe', 'whsec_123456789012', '9012'],
    ['stripe', 'whsec_1234567890', '90'],
    ['stripe', 'whsec_12345678', ''],
    ['paddle', 'pdl_ntfset_12345678', ''],
    ['lemonsqueezy', '123456', ''],
    ['lemonsqueezy', 'a secret of forty characters, not one more', null],
    ['chargebee', 'a-user-with-a-long-name:pass', ''],
    ['chargebee', 'user:a-long-password', 'word'],
    ['revenuecat', 'Bearer abcdefgh', ''],
    ['apple', 'com.example.app:1234567890', '90'],
    ['paypal', '9XL90610J3647323C', '323C'],
  ])('of %s, %s, has the hint %s: eight characters of it stay hidden', async (vendor, signing_secret, hint) => {
    const { status, body } = await create(await newWorld(), { vendor, signing_secret })
    expect([status, body.secrets?.[0].hint ?? null]).toEqual([hint === null ? 422 : 201, hint])
  })

  it('is added once, however often it is sent, at once too', async () => {
    const world = await newWorld()
    const at = `/connections/${world.connection.id}/secrets`
    const add = (signing_secret: string) => world.api(at, { method: 'POST', json: { signing_secret } })
    expect(await add(STRIPE_SECRET)).toMatchObject({ status: 409, body: { code: 'secret_exists' } })
    const answers = await Promise.all(Array.from({ length: 4 }, () => add('whsec_sent_four_times')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
    expect(await storedSecrets(world.connection.id)).toHaveLength(2)
    // Removed, it may come again.
    const added = (await world.api(`/connections/${world.connection.id}`)).body.secrets[1]?.id
    expect((await world.api(`${at}/${added}`, { method: 'DELETE' })).status).toBe(204)
    expect((await add('whsec_sent_four_times')).status).toBe(201)
  })

  it('is encrypted at rest and never shown again', async () => {
    const world = await newWorld()
    const added = 'whsec_added_later_and_never_seen'
    const at = `/connections/${world.connection.id}`
    const answers = [
      await world.api(`${at}/secrets`, { method: 'POST', json: { signing_secret: added } }),
      await world.api(at),
      await world.api('/connections'),
      await world.api(at, { method: 'PATCH', json: { name: 'New' } }),
      await call('/platform/v1/audit-log', { token: world.token, project: world.project }),
    ]
    const kept = JSON.stringify([await rows('SELECT * FROM connections'), await rows('SELECT * FROM audit_log')])
    for (const { status, text } of answers) {
      expect(status).toBeLessThan(300)
      for (const secret of [added, STRIPE_SECRET]) expect(text + kept).not.toContain(secret)
    }
    for (const secret of await storedSecrets(world.connection.id)) {
      expect(Object.keys(secret).toSorted()).toEqual(['added_by', 'box', 'created_at', 'hint', 'id', 'key'])
      expect(atob(secret.box)).not.toContain('whsec')
    }
  })

  it('is sealed with a nonce of its own each time', async () => {
    const world = await newWorld()
    const { body } = await create(world)
    const one = await only(storedSecrets(world.connection.id))
    const two = await only(storedSecrets(body.id))
    expect(one.box.slice(0, 16)).not.toBe(two.box.slice(0, 16))
    expect(one.box).not.toBe(two.box)
  })

  it.each([
    ['another connection', (world: World) => create(world).then(({ body }) => body.id)],
    [
      'another project',
      async () => {
        const { project, secret } = await freshKey()
        return (await stripeConnection(secret, project)).id
      },
    ],
  ])('does not open when its box is moved to %s', async (_, make) => {
    const log = captureLog()
    const world = await newWorld()
    const { box } = await only(storedSecrets(world.connection.id))
    const other = await make(world)
    await rows("UPDATE connections SET secrets = json_set(secrets, '$[0].box', ?) WHERE id = ?", box, other)
    const moved = await world.send(stripeEvent())
    expect(moved.status).toBe(200)
    // The same secret, the same signature: where the box does not belong, it verifies nothing.
    expect((await deliver(other, stripeEvent())).status).toBe(503)
    expect(log.of('secret_not_readable')).toMatchObject([{ connection_id: other }])
    await rows('DELETE FROM connections WHERE id = ?', other) // no key opens it: other tests would find the key wrong
    await settle(world)
  })

  it('does not open under another id, nor with a byte changed', async () => {
    const { connection, project } = await newWorld()
    const secret = await only(storedSecrets(connection.id))
    const keys = new Map([[1, Uint8Array.fromBase64(bound.ENCRYPTION_KEY_1 as string) as Uint8Array<ArrayBuffer>]])
    const context = sealContext(project, connection.id, secret.id)
    expect(await unseal(keys, secret, context)).toBe(STRIPE_SECRET)
    await expect(unseal(keys, secret, sealContext(project, connection.id, 'sec_other'))).rejects.toThrow()
    const bytes = Uint8Array.fromBase64(secret.box)
    for (const place of [0, 12, bytes.length - 1]) {
      const changed = Uint8Array.from(bytes)
      changed[place] = (changed[place] ?? 0) ^ 1
      await expect(unseal(keys, { ...secret, box: changed.toBase64() }, context)).rejects.toThrow()
    }
    await expect(unseal(new Map(), secret, context)).rejects.toThrow('ENCRYPTION_KEY_1 is not configured')
  })
})
