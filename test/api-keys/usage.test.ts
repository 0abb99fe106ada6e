import { beforeEach, expect, it } from 'vitest'
import { MAX_DAY_NETWORKS } from '../../src/api-keys/limits'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { addMember, call, countingD1, failingD1, freshKey, freshProject, mint, STORE, tamperedD1 } from '../harness'

const KEYS = '/platform/v1/api-keys'
const NOON = Date.parse('2026-11-20T12:00:00.000Z')
const from = (address: string, agent = 'curl/8.5.0') => ({ 'CF-Connecting-IP': address, 'User-Agent': agent })

const NOTHING_SEEN = '{"networks":[],"agents":[],"calls":[]}'

beforeEach(() => {
  stopClock(NOON)
})

async function world() {
  const made = await freshKey()
  const { project, owner, key, secret } = made
  const use = (path: string, options = {}) =>
    call(path, { token: secret, project, headers: from('192.0.2.7'), ...options })
  const usage = async (token = owner.token, days = 30, id = key.id) => {
    const { status, body } = await call(`${KEYS}/${id}/usage?days=${days}`, { token, project })
    return { ...body, status }
  }
  const stored = async () => {
    const { results } = await STORE.prepare('SELECT * FROM api_key_days WHERE key_id = ?').bind(key.id).all()
    return results as { day: number; counts: string; seen: string }[]
  }
  return { ...made, use, usage, stored }
}

it('counts requests by day, code, operation, network and client, and the refused ones with their request id', async () => {
  const { project, owner, key, secret, use, usage } = await world()
  for (let n = 0; n < 3; n++) await use(`${KEYS}/self`, { country: 'NL' })
  const missing = await use(`${KEYS}/key_none`, { headers: from('2001:db8:1:2::9', 'python-requests/2.32') })
  await use(KEYS, { method: 'POST', json: {}, country: 'NL' })
  const { body: none } = await call(`${KEYS}/self`, { token: secret, project, headers: { 'User-Agent': '(x)' } })
  expect(none.key.id).toBe(key.id)
  const { days, live_traffic, refused_calls } = await usage()
  expect(days).toEqual([
    {
      day: '2026-11-20',
      requests: 6,
      refused: { not_found: 1, console_session_required: 1 },
      operations: [
        { operation: 'getOwnApiKey', requests: 4 },
        { operation: 'getApiKey', requests: 1 },
        { operation: 'mintApiKey', requests: 1 },
      ],
      addresses: expect.arrayContaining([
        expect.objectContaining({ network: '192.0.2.0/24', hash: expect.stringMatching(/^[0-9a-f]{16}$/) }),
        expect.objectContaining({ network: '2001:db8:1::/48', country: null }),
      ]),
      user_agents: expect.arrayContaining([
        { name: 'curl', last_seen_at: iso(NOON) },
        { name: 'python-requests', last_seen_at: iso(NOON) },
      ]),
    },
  ])
  expect(live_traffic).toEqual({ requests: 6, networks: 3 })
  expect(refused_calls).toHaveLength(2)
  expect(refused_calls).toContainEqual({
    at: iso(NOON),
    method: 'GET',
    route: `${KEYS}/:id`,
    status: 404,
    code: 'not_found',
    request_id: missing.headers.get('X-Request-Id'),
  })
  const { body } = await call(`${KEYS}/${key.id}`, { token: owner.token, project })
  expect(body.last_used).toEqual({
    at: iso(NOON),
    address: { hash: days[0]?.addresses.find((one: { country: string }) => one.country === 'NL')?.hash, country: 'NL' },
    user_agent: 'curl',
    operation: 'getOwnApiKey',
  })
})

it('is written once a minute, a row for a key and day, in the batch of last_used_at', async () => {
  const { use, usage, stored } = await world()
  const { DB, count } = countingD1()
  const ask = () => use('/platform/v1/projects?cursor=AAAA', { bindings: { DB } })
  await ask()
  expect(count).toMatchObject({ trips: 2, rows_written: 2 }) // the key and the day
  const first = { ...count }
  for (let n = 0; n < 20; n++) await ask()
  expect([count.trips - first.trips, count.rows_written - first.rows_written]).toEqual([20, 0])
  advance(MINUTE)
  await ask()
  expect([count.trips - first.trips, count.rows_written - first.rows_written]).toEqual([22, 1]) // the day alone: KV's minute is the machine's, and not over
  const rows = await stored()
  expect(rows).toHaveLength(1)
  expect(JSON.parse(rows[0]?.counts ?? '')).toMatchObject({ requests: 22, 'refused:invalid_cursor': 22 })
  expect(JSON.parse(rows[0]?.seen ?? '').calls).toHaveLength(20)
  expect((await usage()).days[0]?.requests).toBe(22)
})

it('keeps days apart, and answers those that are asked for', async () => {
  const { secret, use, usage, stored } = await world()
  const asked = async (days: number) => (await usage(secret, days)).days.map((one: { day: string }) => one.day)
  for (const at of [NOON, NOON + DAY / 2 - 2, NOON + DAY / 2 - 1, NOON + DAY / 2]) {
    setClock(at)
    await use(`${KEYS}/self`)
  }
  // What is not written yet is of two days.
  expect([await asked(1), await asked(2)]).toEqual([['2026-11-21'], ['2026-11-21', '2026-11-20']])
  setClock(NOON + 3 * DAY)
  await use(`${KEYS}/self`)
  expect(await asked(90)).toEqual(['2026-11-23', '2026-11-21', '2026-11-20'])
  expect(await asked(3)).toEqual(['2026-11-23', '2026-11-21'])
  expect(await asked(1)).toEqual(['2026-11-23'])
  expect((await stored()).map(({ counts }) => JSON.parse(counts).requests)).toEqual([3, 3, 1])
})

it('keeps the last networks of a day, also before it is first written', async () => {
  const { use, stored } = await world()
  setClock(NOON + DAY / 2 - MINUTE / 2)
  await use(`${KEYS}/self`)
  setClock(NOON + DAY / 2)
  const networks = Array.from({ length: MAX_DAY_NETWORKS + 2 }, (_, i) => `192.0.${i}.1`)
  for (const address of networks) await use(`${KEYS}/self`, { headers: from(address) })
  advance(MINUTE)
  await use(`${KEYS}/self`, { headers: from(networks.at(-1) ?? '') })
  const kept = async () => {
    const { seen = '' } = (await stored()).find(({ day }) => day === Math.floor(Date.now() / DAY)) ?? {}
    const all = JSON.parse(seen).networks.map(({ network, at }: { network: string; at: number }) => [network, at])
    return new Map<string, number>(all)
  }
  const last = networks.slice(2).map((address) => address.replace(/1$/, '0/24'))
  expect([...(await kept()).keys()].toSorted()).toEqual(last.toSorted())
  advance(MINUTE)
  await use(`${KEYS}/self`, { headers: from(networks[2] ?? '') })
  expect([(await kept()).size, (await kept()).get(last[0] ?? '')]).toEqual([MAX_DAY_NETWORKS, Date.now()])
})

it('is tried again by the next request if the database did not write', async () => {
  const { use, stored } = await world()
  const DB = tamperedD1(({ sql, run }) => {
    if (sql.includes('api_key_days')) throw new Error('D1_ERROR: out of order')
    return run()
  })
  expect((await use(`${KEYS}/self`, { bindings: { DB } })).status).toBe(200)
  expect(await stored()).toEqual([])
  await use(`${KEYS}/self`)
  expect(await stored()).toHaveLength(1)
})

it('says what traffic there was in the last hour', async () => {
  const { use, usage } = await world()
  for (const minutes of [0, 15, 30, 45]) {
    setClock(NOON + minutes * MINUTE)
    await use(`${KEYS}/self`, { headers: from(`192.0.2.${minutes}`) })
  }
  const at = async (minutes: number) => {
    setClock(NOON + minutes * MINUTE)
    return (await usage()).live_traffic
  }
  expect(await at(45)).toEqual({ requests: 4, networks: 4 })
  expect(await at(75)).toEqual({ requests: 2, networks: 2 })
  expect(await at(80)).toEqual({ requests: 2, networks: 2 })
  expect(await at(110)).toEqual({ requests: 0, networks: 0 })
})

it('shows networks to those who may read the audit log, hashes to others, and its own use to the key', async () => {
  const { project, owner, use, usage, key } = await world()
  const viewer = await addMember(project, 'viewer')
  const reader = await mint(owner.token, project, { scopes: ['billing:read'] })
  await use(`${KEYS}/self`)
  const [shown] = (await usage()).days[0].addresses
  expect(shown.network).toBe('192.0.2.0/24')
  expect((await usage(viewer.token)).days[0].addresses).toEqual([{ ...shown, network: null }])
  expect((await usage(reader.secret)).code).toBe('insufficient_scope')
  expect((await usage(reader.secret, 1, reader.key.id)).status).toBe(200)
  const other = await freshProject()
  const foreign = await call(`${KEYS}/${key.id}/usage`, { token: other.owner.token, project: other.project })
  expect(foreign.status).toBe(404)
  // A revoked key is told too.
  await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })
  expect((await usage()).days[0].requests).toBe(1)
})

it('has the calls that were refused for their network, which are no use of the key', async () => {
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project, { allowed_networks: ['192.0.2.0/24'] })
  const headers = from('198.51.100.1')
  for (let n = 0; n < 2; n++) await call(`${KEYS}/self`, { token: secret, project, headers })
  const read = (path: string) => call(path, { token: owner.token, project })
  const { body } = await read(`${KEYS}/${key.id}/usage`)
  expect(body.days[0]).toMatchObject({ requests: 2, refused: { network_not_allowed: 2 } })
  expect((await read(`${KEYS}/${key.id}`)).body).toMatchObject({ last_used_at: null, last_used: null })
  // Nor do they keep a use by its owner from being recorded.
  await call(`${KEYS}/self`, { token: secret, project, headers: from('192.0.2.1') })
  expect((await read(`${KEYS}/${key.id}`)).body.last_used_at).toBe(iso(NOON))
})

it('stores a bounded row, and no address', async () => {
  const { use, stored, usage } = await world()
  for (let n = 0; n < 130; n++) {
    if (n % 30 === 0) advance(MINUTE)
    const headers = from(`198.51.${n}.7`, `agent-${n}${'x'.repeat(500)}/1`)
    await use(`/platform/v1/consumers/ext:${n}`, { headers })
  }
  advance(MINUTE)
  await use(`${KEYS}/self`, { headers: from('198.51.99.7') })
  const [row] = await stored()
  const text = JSON.stringify(row)
  expect(text.length).toBeLessThan(16_000)
  expect(text).not.toMatch(/198\.51\.\d+\.7|ext:\d/)
  const seen = JSON.parse(row?.seen ?? '')
  expect([seen.networks.length, seen.agents.length, seen.calls.length]).toEqual([20, 5, 20])
  const [day] = (await usage()).days
  expect([day.requests, day.addresses.length, day.user_agents.length]).toEqual([131, 5, 5])
})

it('keeps the traffic of the last hour of a key that made all kinds of calls', async () => {
  const { project, key, use, usage } = await world()
  const kinds = Array.from({ length: 150 }, (_, n) => [`op:kind${n}`, 9] as const)
  await STORE.prepare('INSERT INTO api_key_days (project_id, key_id, day, counts, seen) VALUES (?, ?, ?, ?, ?)')
    .bind(project, key.id, Math.floor(NOON / DAY), JSON.stringify(Object.fromEntries(kinds)), NOTHING_SEEN)
    .run()
  await use(`${KEYS}/self`)
  expect((await usage()).live_traffic.requests).toBe(1)
})

it('never fails or delays a request', async () => {
  const { use, usage } = await world()
  await use(`${KEYS}/self`)
  advance(HOUR)
  let first = true
  const DB = new Proxy(STORE, {
    get: (real, name) => {
      const value = Reflect.get(real, name)
      if (name !== 'batch') return typeof value === 'function' ? value.bind(real) : value
      return (statements: D1PreparedStatement[]) => {
        if (first) {
          first = false
          return real.batch(statements)
        }
        return failingD1('D1_ERROR: out').batch(statements)
      }
    },
  })
  expect((await use(`${KEYS}/self`, { bindings: { DB } })).status).toBe(200)
  expect((await usage()).days[0].requests).toBeGreaterThanOrEqual(1)
})

it('lists keys that were not used for so many days', async () => {
  const { project, owner, key } = await world()
  const { key: idle } = await mint(owner.token, project)
  const { key: young } = await mint(owner.token, project)
  const ago = (id: string, minted: number, used: number | null) =>
    STORE.prepare('UPDATE api_keys SET created_at = ?, last_used_at = ? WHERE id = ?')
      .bind(NOON - minted * DAY, used && NOON - used * DAY, id)
      .run()
  await Promise.all([ago(key.id, 100, 10), ago(idle.id, 90, null)])
  const list = async (query: string) => {
    const { status, body } = await call(`${KEYS}?${query}`, { token: owner.token, project })
    return [status, ...(body.data ?? []).map(({ id }: { id: string }) => id).sort()]
  }
  expect(await list('unused_days=90')).toEqual([200, idle.id])
  expect(await list('unused_days=91')).toEqual([200])
  expect(await list('unused_days=10')).toEqual([200, ...[idle.id, key.id].sort()])
  expect(await list('')).toEqual([200, ...[young.id, idle.id, key.id].sort()])
  // A secret before the current one is in use.
  await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project, json: { grace_s: 86_400 } })
  await STORE.prepare("UPDATE api_keys SET previous = json_set(previous, '$.last_used_at', ?) WHERE id = ?")
    .bind(NOON - 9 * DAY, key.id)
    .run()
  expect(await list('unused_days=10')).toEqual([200, idle.id])
  for (const bad of ['0', '3651', 'x', '']) expect((await list(`unused_days=${bad}`))[0]).toBe(422)
})
