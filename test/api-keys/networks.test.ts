import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../src/lib/time'
import { advance, inOneWindow, stopClock } from '../clock'
import {
  bound,
  call,
  countingD1,
  everyD1,
  freshKey,
  freshProject,
  LIMIT_REACHED,
  mint,
  type RequestOptions,
  STORE,
  tampered,
  withLimits,
} from '../harness'
import { ROUTES, takesBody } from '../routes/of-app'

const KEYS = '/platform/v1/api-keys'
const HOME = ['192.0.2.0/24', '2001:db8:cafe::/48']
const from = (address: string) => ({ 'CF-Connecting-IP': address })
const INSIDE = from('192.0.2.7')
const OUTSIDE = from('198.51.100.7')

/** A project with a key that is limited to {@link HOME}. */
async function fenced(fields: Record<string, unknown> = {}) {
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project, { allowed_networks: HOME, ...fields })
  const self = (headers: Record<string, string>, options: RequestOptions = {}) =>
    call(`${KEYS}/self`, { token: secret, project, headers, ...options })
  const patch = (json: unknown, token = secret, headers = INSIDE) =>
    call(`${KEYS}/${key.id}`, { method: 'PATCH', token, project, json, headers })
  return { project, owner, key, secret, self, patch }
}

describe('a key with networks', () => {
  it.each([
    ['192.0.2.0', 200],
    ['192.0.2.255', 200],
    ['192.0.3.0', 403],
    ['::ffff:192.0.2.9', 200],
    ['::ffff:c000:0209', 200],
    ['::ffff:192.0.3.0', 403],
    ['2001:db8:cafe:1::1', 200],
    ['2001:DB8:CAFE:ffff:0::', 200],
    ['2001:db8:caff::1', 403],
    ['', 403],
    ['192.0.2.7, 198.51.100.7', 403],
    ['not an address', 403],
  ])('from %s: %i', async (address, status) => {
    const { self } = await fenced()
    for (const _ of ['unknown to the isolate', 'known']) {
      const answer = await self(from(address))
      expect(answer.status).toBe(status)
      if (status === 200) continue
      expect(answer.body).toMatchObject({ code: 'network_not_allowed' })
      expect(answer.body.detail).toContain(address.trim() || 'an unknown address')
      expect(answer.text).not.toContain(HOME[0])
    }
  })

  it('goes by CF-Connecting-IP alone', async () => {
    const { self } = await fenced()
    const forged = { 'X-Forwarded-For': '192.0.2.7', 'X-Real-IP': '192.0.2.7', Forwarded: 'for=192.0.2.7' }
    expect((await self({ ...OUTSIDE, ...forged, 'True-Client-IP': '192.0.2.7' })).status).toBe(403)
  })

  it('is refused from elsewhere on every route that takes keys, before a limit counts and before a use is recorded', async () => {
    const { project, secret, key, self } = await fenced()
    await self(INSIDE)
    const counted: string[] = []
    const limiter = (name: string) => ({
      limit: async ({ key }: RateLimitOptions) => {
        counted.push(`${name} ${key}`)
        return { success: true }
      },
    })
    const names = Object.keys(bound).filter((name) => name.startsWith('LIMIT_'))
    const limits = Object.fromEntries(names.map((name) => [name, limiter(name)]))
    const routes = ROUTES.filter(({ meta }) => meta.operation?.policy?.actors.includes('api_key'))
    expect(routes.length).toBeGreaterThan(80)
    const { DB, count } = countingD1()
    for (const route of routes) {
      const path = route.path.replace(/:\w+/g, 'x')
      const answer = await call(path, {
        method: route.method,
        token: secret,
        project,
        headers: OUTSIDE,
        ...(takesBody(route) && { json: {} }),
        bindings: { DB, ...limits },
      })
      expect([route.method, path, answer.status, answer.body.code]).toEqual([
        route.method,
        path,
        403,
        'network_not_allowed',
      ])
    }
    expect(count.rows_written).toBe(1) // that it was refused, once a minute: its day
    // Only the limit of secrets counts, before the row is read, and apart from what the owner of the key has.
    expect(counted).toHaveLength(routes.length)
    for (const one of counted) expect(one).toMatch(/^LIMIT_CREDENTIAL [0-9a-f]{32}:outside$/)
    const row = await STORE.prepare('SELECT last_used_at FROM api_keys WHERE id = ?').bind(key.id).first()
    expect(row?.last_used_at).not.toBeNull()
  })

  it('leaves no use and starts no secret that waits', async () => {
    const { project, owner, key, secret } = await fenced()
    const json = { when: 'first_use', grace_s: 60 }
    const { body } = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project, json })
    const use = (token: string, headers: Record<string, string>) => call(`${KEYS}/self`, { token, project, headers })
    for (const token of [body.secret, secret]) expect((await use(token, OUTSIDE)).status).toBe(403)
    const read = () => call(`${KEYS}/${key.id}`, { token: owner.token, project })
    expect((await read()).body).toMatchObject({ last_used_at: null, pending: { key_prefix: expect.any(String) } })
    expect((await use(body.secret, INSIDE)).status).toBe(200)
    expect((await read()).body).toMatchObject({ pending: null, previous: { last_used_at: null } })
    // The secret before it is in the same networks.
    expect([(await use(secret, OUTSIDE)).status, (await use(secret, INSIDE)).status]).toEqual([403, 200])
  })

  it('is refused at once where a change shuts it out, in an isolate that knows the key', async () => {
    const { project, owner, key, secret } = await freshKey()
    const read = () => call(`${KEYS}/${key.id}`, { token: secret, project, headers: OUTSIDE })
    expect((await read()).status).toBe(200)
    const patch = (allowed_networks: string[] | null) =>
      call(`${KEYS}/${key.id}`, { method: 'PATCH', token: owner.token, project, json: { allowed_networks } })
    expect((await patch(HOME)).body).toMatchObject({ allowed_networks: HOME })
    expect((await read()).body.code).toBe('network_not_allowed')
    expect((await patch(null)).body).toMatchObject({ allowed_networks: null })
    expect((await read()).status).toBe(200)
  })
})

describe('the networks of a key', () => {
  it('are answered in their canonical form, each once, and up to 20', async () => {
    const sent = ['192.0.2.9/24', '::ffff:192.0.2.1/120', '2001:DB8:0:0::/32', '198.51.100.1']
    const { key, project, owner } = await fenced({ allowed_networks: sent })
    expect(key.allowed_networks).toEqual(['192.0.2.0/24', '2001:db8::/32', '198.51.100.1/32'])
    const twenty = Array.from(
      { length: 20 },
      (_, n) => `2001:db8:aaaa:bbbb:cccc:dddd:eeee:${(n + 16).toString(16)}/128`,
    )
    const of = { token: owner.token, project }
    const patch = (allowed_networks: string[]) =>
      call(`${KEYS}/${key.id}`, { method: 'PATCH', ...of, json: { allowed_networks } })
    expect((await patch(twenty)).body).toMatchObject({ allowed_networks: twenty })
    await patch(HOME)
    const { body } = await call('/platform/v1/audit-log?action=api_key.updated', of)
    // So many of them are not repeated.
    expect(body.data.map(({ details }: { details: object }) => details)).toEqual([
      { allowed_networks: HOME, before: {} },
      { allowed_networks: twenty, before: { allowed_networks: key.allowed_networks } },
    ])
  })

  it.each([
    [[], '/allowed_networks', 'out_of_range'],
    [Array.from({ length: 21 }, (_, n) => `192.0.2.${n}`), '/allowed_networks', 'out_of_range'],
    [['192.0.2.0/24', 'example.com'], '/allowed_networks/1', 'malformed'],
    [['192.0.2.0/33'], '/allowed_networks/0', 'malformed'],
    [[`${'0'.repeat(70)}::/1`], '/allowed_networks/0', 'out_of_range'],
    [[7], '/allowed_networks/0', 'wrong_type'],
    ['192.0.2.0/24', '/allowed_networks', 'wrong_type'],
  ])('cannot be %j', async (allowed_networks, pointer, code) => {
    const { project, owner, patch } = await fenced()
    const minted = await call(KEYS, {
      method: 'POST',
      token: owner.token,
      project,
      json: { name: 'one', allowed_networks },
    })
    for (const { status, body } of [minted, await patch({ allowed_networks }, owner.token)]) {
      expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, pointer, code])
    }
  })

  it('can only become fewer by an API key, and any by a session', async () => {
    const { project, owner, patch } = await fenced({ rate_limit: { per_minute: 100 } })
    for (const json of [
      { allowed_networks: null },
      { allowed_networks: ['192.0.0.0/16'] },
      { allowed_networks: [...HOME, '198.51.100.0/24'] },
      { rate_limit: null },
      { rate_limit: { per_minute: 101 } },
    ]) {
      const refused = await patch({ name: 'New', ...json })
      expect([refused.status, refused.body.code]).toEqual([403, 'console_session_required'])
    }
    const { secret: other } = await mint(owner.token, project)
    expect((await patch({ allowed_networks: null }, other)).body.code).toBe('console_session_required')
    const narrowed = await patch({ allowed_networks: ['192.0.2.0/25'], rate_limit: { per_minute: 50 } })
    expect(narrowed.body).toMatchObject({ allowed_networks: ['192.0.2.0/25'], rate_limit: { per_minute: 50 } })
    const widened = await patch({ allowed_networks: null, rate_limit: null }, owner.token)
    expect(widened.body).toMatchObject({ name: 'test key', allowed_networks: null, rate_limit: null })
  })

  it('do not become wider again if a session takes some away at the same moment', async () => {
    const { project, owner, key, secret, patch } = await fenced()
    let first = true
    const DB = everyD1((database) =>
      tampered(database, async ({ sql, run }) => {
        if (first && /update "api_keys" set/i.test(sql) && !/last_used_at" = /.test(sql)) {
          first = false
          expect((await patch({ allowed_networks: ['192.0.2.0/30'] }, owner.token)).status).toBe(200)
        }
        return run()
      }),
    )
    const json = { allowed_networks: ['192.0.2.0/25'] }
    const path = `${KEYS}/${key.id}`
    const late = await call(path, {
      method: 'PATCH',
      token: secret,
      project,
      json,
      headers: from('192.0.2.1'),
      bindings: { DB },
    })
    expect([late.status, late.body.code]).toEqual([403, 'console_session_required'])
    const { body } = await call(path, { token: owner.token, project })
    expect(body.allowed_networks).toEqual(['192.0.2.0/30'])
  })

  it('do not shut out the key that changes them unless it confirms that', async () => {
    const { project, owner, key, patch, self } = await fenced()
    const away = ['2001:db8:cafe:9::/64']
    const refused = await patch({ allowed_networks: away })
    expect([refused.status, refused.body.code]).toEqual([409, 'would_lock_out'])
    expect(refused.body.detail).toContain('192.0.2.7')
    expect((await self(INSIDE)).status).toBe(200)
    // Others do not shut themselves out.
    const { secret: other } = await mint(owner.token, project)
    expect((await patch({ allowed_networks: HOME.slice(1) }, other)).status).toBe(200)
    expect((await patch({ allowed_networks: HOME }, owner.token)).status).toBe(200)
    expect((await patch({ allowed_networks: away, confirm: true })).status).toBe(200)
    expect((await self(INSIDE)).body.code).toBe('network_not_allowed')
    expect((await self(from('2001:db8:cafe:9::1'))).body.key.id).toBe(key.id)
    const nothing = await patch({ confirm: true }, owner.token)
    expect([nothing.status, nothing.body.errors[0].code]).toEqual([422, 'required'])
  })

  it.each([
    ['fewer networks', { allowed_networks: HOME }, { allowed_networks: ['192.0.2.0/25'] }, 200],
    ['the same networks', { allowed_networks: HOME }, { allowed_networks: HOME }, 200],
    ['more networks', { allowed_networks: HOME }, { allowed_networks: ['192.0.0.0/16'] }, 403],
    ['no networks', { allowed_networks: HOME }, {}, 403],
    ['a lower limit', { rate_limit: { per_minute: 9 } }, { rate_limit: { per_minute: 8 } }, 200],
    ['a higher limit', { rate_limit: { per_minute: 9 } }, { rate_limit: { per_minute: 10 } }, 403],
    ['no limit', { rate_limit: { per_minute: 9 } }, {}, 403],
  ])('where the key to rotate has %s, the answer is by what the caller has', async (_, by, of, status) => {
    const { project, owner } = await freshProject()
    const fields = { scopes: ['api_keys:write', 'billing:read'] }
    const caller = await mint(owner.token, project, { ...fields, ...by })
    const target = await mint(owner.token, project, { ...fields, ...of })
    for (const json of [{}, { when: 'first_use' }]) {
      const path = `${KEYS}/${target.key.id}/rotate`
      const answer = await call(path, { method: 'POST', token: caller.secret, project, json, headers: INSIDE })
      expect([answer.status, answer.body.code]).toEqual([status, status === 403 ? 'key_reaches_further' : undefined])
    }
    // Itself always, with the same networks and the same limit.
    const path = `${KEYS}/${caller.key.id}/rotate`
    const own = await call(path, { method: 'POST', token: caller.secret, project, headers: INSIDE })
    expect(own.body.key).toMatchObject(by)
  })
})

describe('a limit of its own', () => {
  beforeEach(withLimits)

  it.each([1, 2, 7, 20, 150])('lets %i requests a minute through, with whichever secret', async (per_minute) => {
    const { statuses, refused, other } = await inOneWindow(async () => {
      const { project, owner } = await freshProject()
      const minted = await mint(owner.token, project, { rate_limit: { per_minute } })
      expect(minted.key.rate_limit).toEqual({ per_minute })
      const path = `${KEYS}/${minted.key.id}/rotate`
      const { body } = await call(path, { method: 'POST', token: owner.token, project, json: { grace_s: 3600 } })
      const ask = (token: string) => call(`${KEYS}/self`, { token, project })
      const statuses: number[] = []
      for (let n = 0; n < per_minute + 3; n++) {
        statuses.push((await ask(n % 2 === 0 ? minted.secret : body.secret)).status)
      }
      const { secret } = await mint(owner.token, project)
      return { statuses, refused: await ask(body.secret), other: await ask(secret) }
    })
    expect(statuses).toEqual([...Array(per_minute).fill(200), 429, 429, 429])
    expect(refused.body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('a limit of its own') })
    expect(refused.headers.get('RateLimit-Policy')).toBe(`"api_key";q=${per_minute};w=60`)
    expect(other.status).toBe(200)
  })

  it('begins anew when it is changed', async () => {
    const statuses = await inOneWindow(async () => {
      const { patch, owner, self } = await fenced({ rate_limit: { per_minute: 2 } })
      const all = [(await self(INSIDE)).status]
      await patch({ rate_limit: { per_minute: 4 } }, owner.token)
      for (let n = 0; n < 6; n++) all.push((await self(INSIDE)).status)
      return all
    })
    // The second one still counts against the limit that the isolate remembers.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
  })

  it('that is used up and then raised is looked up again after some seconds, by one request', async () => {
    const { statuses, read } = await inOneWindow(async () => {
      stopClock()
      const { patch, owner, self } = await fenced({ rate_limit: { per_minute: 1 } })
      const { DB, count } = countingD1()
      const ask = async () => (await self(INSIDE, { bindings: { DB } })).status
      const statuses = [await ask(), await ask()]
      await patch({ rate_limit: { per_minute: 3 } }, owner.token)
      const read: boolean[] = []
      for (const seconds of [0, 0, 0, 5, 0, 0, 0, 0, 0]) {
        advance(seconds * SECOND)
        const before = count.trips
        statuses.push(await ask())
        read.push(count.trips > before)
      }
      return { statuses, read }
    })
    expect(statuses).toEqual([200, 429, 429, 429, 429, 200, 200, 200, 429, 429, 429])
    expect(read).toEqual([0, 0, 0, 1, 1, 1, 0, 0, 0].map(Boolean))
  })

  it('of 20 is counted in the lower of the two limits of bindings', async () => {
    const { self } = await fenced({ rate_limit: { per_minute: 20 } })
    const refused = await self(INSIDE, { bindings: { LIMIT_AUTH_FAILURE: LIMIT_REACHED } })
    expect([refused.status, refused.headers.get('RateLimit-Policy')]).toEqual([429, '"api_key";q=20;w=60'])
  })

  it('is not used up by whoever has stolen the secret and calls from elsewhere', async () => {
    const [outside, inside, late] = await inOneWindow(async () => {
      const { self } = await fenced({ rate_limit: { per_minute: 3 } })
      const ask = async (times: number, headers: Record<string, string>) => {
        const statuses: number[] = []
        for (let n = 0; n < times; n++) statuses.push((await self(headers)).status)
        return statuses
      }
      return [await ask(20, OUTSIDE), await ask(4, INSIDE), await ask(1, OUTSIDE)] as const
    })
    expect(new Set(outside)).toEqual(new Set([403]))
    expect([inside, late]).toEqual([[200, 200, 200, 429], [403]])
  })

  it.each([
    [{ per_minute: 0 }, '/rate_limit/per_minute', 'out_of_range'],
    [{ per_minute: 3_001 }, '/rate_limit/per_minute', 'out_of_range'],
    [{ per_minute: 1.5 }, '/rate_limit/per_minute', 'wrong_type'],
    [{}, '/rate_limit/per_minute', 'required'],
    [{ per_minute: 5, per_hour: 5 }, '/rate_limit/per_hour', 'unknown_field'],
    [5, '/rate_limit', 'wrong_type'],
  ])('cannot be %j', async (rate_limit, pointer, code) => {
    const { patch, owner } = await fenced()
    const { status, body } = await patch({ rate_limit }, owner.token)
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, pointer, code])
  })
})
