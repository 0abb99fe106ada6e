import { beforeEach, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { call, mint, STORE } from '../harness'
import { lastingProject } from './world'

/* Order, number and age of what is kept of the use of a key. */

const KEYS = '/platform/v1/api-keys'
const NOON = Date.parse('2026-11-20T12:00:00.000Z')
const TODAY = Math.floor(NOON / DAY)
beforeEach(() => {
  stopClock(NOON)
})

async function world() {
  const { project, owner } = await lastingProject()
  const { key, secret } = await mint(owner.token, project)
  const use = (path = `${KEYS}/self`, headers: Record<string, string> = {}) =>
    call(path, { token: secret, project, headers: { 'CF-Connecting-IP': '192.0.2.7', ...headers } })
  const usage = async (days = 30) =>
    (await call(`${KEYS}/${key.id}/usage?days=${days}`, { token: owner.token, project })).body
  const insert = (day: number, counts: object, seen: object = {}) =>
    STORE.prepare('INSERT INTO api_key_days (project_id, key_id, day, counts, seen) VALUES (?, ?, ?, ?, ?)')
      .bind(
        project,
        key.id,
        day,
        JSON.stringify(counts),
        JSON.stringify({ networks: [], agents: [], calls: [], ...seen }),
      )
      .run()
  const stored = async (day = TODAY) => {
    const row = await STORE.prepare('SELECT counts, seen FROM api_key_days WHERE key_id = ? AND day = ?')
      .bind(key.id, day)
      .first<{ counts: string; seen: string }>()
    return { counts: JSON.parse(row?.counts ?? '{}'), seen: JSON.parse(row?.seen ?? '{}') }
  }
  return { project, owner, key, secret, use, usage, insert, stored }
}
const refusedCall = (n: number, at: number) => ({
  at,
  method: 'GET',
  route: `/r/${n}`,
  status: 404,
  code: 'not_found',
  request_id: `req_${n}`,
})

it('names clients by their family, with at most 40 characters', async () => {
  const { use, usage } = await world()
  for (const [agent, family] of [
    ['curl/8.5.0', 'curl'],
    ['python-requests/2.32', 'python-requests'],
    ['Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0 Safari/537.36', 'Chrome on Linux'],
    [`${'a'.repeat(50)}/1`, 'a'.repeat(40)],
    ['b.2-c_d e', 'b.2-c_d'],
  ] as const) {
    advance(1)
    await use(`${KEYS}/self`, { 'User-Agent': agent })
    expect((await usage()).days[0].user_agents[0]).toEqual({ name: family, last_seen_at: iso(Date.now()) })
  }
  // What has no name is none, and the ones before stay, the newest first.
  await use(`${KEYS}/self`, { 'User-Agent': '1abc' })
  expect((await usage()).days[0].user_agents.map(({ name }: { name: string }) => name[0])).toEqual([
    'b',
    'a',
    'C',
    'p',
    'c',
  ])
})

it('has the last five networks, the newest first, each once with when it was seen last', async () => {
  const { use, usage } = await world()
  const seen = ['192.0.2.1', '192.0.2.2', '198.51.100.1', '203.0.113.1', '192.0.2.1', '2001:db8::1', '192.0.2.9']
  for (const address of seen) {
    advance(MINUTE)
    await use(`${KEYS}/self`, { 'CF-Connecting-IP': address })
  }
  const [day] = (await usage()).days
  const shown = day.addresses.map((one: { network: string; last_seen_at: string }) => [one.network, one.last_seen_at])
  const at = (minutes: number) => iso(NOON + minutes * MINUTE)
  expect(shown).toEqual([
    ['192.0.2.0/24', at(7)],
    ['2001:db8::/48', at(6)],
    ['192.0.2.0/24', at(5)],
    ['203.0.113.0/24', at(4)],
    ['198.51.100.0/24', at(3)],
  ])
  expect(new Set(day.addresses.map(({ hash }: { hash: string }) => hash)).size).toBe(5)
})

it('has the last 20 refused calls, of all days that are asked for, the newest first', async () => {
  const { use, usage, insert, stored } = await world()
  const old = Array.from({ length: 15 }, (_, n) => refusedCall(n, NOON - DAY - n))
  const late = Array.from({ length: 20 }, (_, n) => refusedCall(100 + n, NOON - 100 - n))
  await insert(TODAY - 1, { requests: 15 }, { calls: old })
  const ids = async (days: number) =>
    (await usage(days)).refused_calls.map(({ request_id }: { request_id: string }) => request_id)
  expect([await ids(1), await ids(2)]).toEqual([[], old.map(({ request_id }) => request_id)])
  await insert(TODAY, { requests: 20 }, { calls: late.slice(0, 12) })
  expect(await ids(2)).toEqual([...late.slice(0, 12), ...old.slice(0, 8)].map(({ request_id }) => request_id))
  // What is written after them takes the place of the oldest of the day.
  const answers: (string | null)[] = []
  for (let n = 0; n < 10; n++) {
    advance(MINUTE)
    answers.unshift((await use(`${KEYS}/key_none`)).headers.get('X-Request-Id'))
  }
  const kept = [...answers, ...late.slice(0, 10).map(({ request_id }) => request_id)]
  expect(await ids(2)).toEqual(kept)
  advance(MINUTE)
  await use()
  expect((await stored()).seen.calls.map(({ request_id }: { request_id: string }) => request_id)).toEqual(kept)
})

it('has the ten most frequent operations of a day', async () => {
  const { usage, insert } = await world()
  const counts = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`op:o${n}`, (n * 7) % 12]))
  await insert(TODAY, { requests: 66, ...counts })
  const { operations, requests } = (await usage()).days[0]
  const most = Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10)
  expect(requests).toBe(66)
  expect(operations).toEqual(most.map(([name, n]) => ({ operation: name.slice(3), requests: n })))
})

it('adds up what was counted at several times, also beside what is not written yet', async () => {
  const { use, usage, insert, stored } = await world()
  await insert(TODAY, { requests: 5, 'op:getOwnApiKey': 3, 'refused:not_found': 1 })
  const headers = { 'User-Agent': 'curl/8.5.0' }
  await use(undefined, headers)
  advance(1)
  await use(undefined, headers)
  const [day] = (await usage()).days
  // What was seen again since the last write was seen last then.
  const seen = { last_seen_at: iso(NOON + 1) }
  expect(day).toMatchObject({
    requests: 7,
    refused: { not_found: 1 },
    operations: [{ operation: 'getOwnApiKey', requests: 5 }],
    addresses: [seen],
    user_agents: [seen],
  })
  advance(MINUTE)
  await use()
  expect((await stored()).counts).toMatchObject({ requests: 8, 'op:getOwnApiKey': 6, 'refused:not_found': 1 })
})

it('keeps of the traffic the steps of the last hour, and the number of requests whatever else there is', async () => {
  const { use, usage, insert, stored } = await world()
  const step = Math.floor(NOON / (10 * MINUTE))
  const kinds = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`op:kind${n}`, 9]))
  const steps = { [`at:${step - 7}`]: 1, [`at:${step - 6}`]: 2, [`at:${step - 5}`]: 4 }
  await insert(TODAY, { requests: 1, ...kinds, ...steps })
  await use()
  const { counts } = await stored()
  expect(Object.keys(counts)).toHaveLength(100)
  expect(Object.entries(counts).filter(([name]) => name.startsWith('at:'))).toEqual(
    expect.arrayContaining([
      [`at:${step}`, 1],
      [`at:${step - 5}`, 4],
    ]),
  )
  expect([counts.requests, counts[`at:${step - 6}`], counts[`at:${step - 7}`]]).toEqual([2, undefined, undefined])
  expect((await usage()).live_traffic.requests).toBe(5)
})

it('counts the traffic of the last hour over midnight', async () => {
  const { use, usage } = await world()
  const midnight = NOON + DAY / 2
  setClock(midnight - 20 * MINUTE)
  for (const address of ['192.0.2.7', '198.51.100.7']) await use(`${KEYS}/self`, { 'CF-Connecting-IP': address })
  setClock(midnight + 20 * MINUTE)
  await use(`${KEYS}/self`, { 'CF-Connecting-IP': '198.51.100.7' })
  // An address that was seen on both days is one.
  expect((await usage()).live_traffic).toEqual({ requests: 3, networks: 2 })
  advance(HOUR - 1)
  expect((await usage()).live_traffic.networks).toBe(1)
  advance(1)
  expect((await usage()).live_traffic).toEqual({ requests: 0, networks: 0 })
})

it('is asked for by 1 to 90 days, 30 if it is not said, and today counts', async () => {
  const { project, owner, key, usage, insert } = await world()
  for (const ago of [0, 1, 29, 30, 89, 90]) await insert(TODAY - ago, { requests: ago + 1 })
  const shown = async (days: number) => (await usage(days)).days.map((one: { requests: number }) => one.requests)
  expect(await shown(1)).toEqual([1])
  expect(await shown(2)).toEqual([1, 2])
  expect(await shown(90)).toEqual([1, 2, 30, 31, 90])
  const ask = (query: string) => call(`${KEYS}/${key.id}/usage${query}`, { token: owner.token, project })
  expect((await ask('')).body.days.map((one: { requests: number }) => one.requests)).toEqual([1, 2, 30])
  for (const bad of ['0', '91', '1.5', 'x']) expect((await ask(`?days=${bad}`)).status).toBe(422)
})

it('of a key is not shown with another one of the project', async () => {
  const one = await world()
  const { body } = await call(KEYS, {
    method: 'POST',
    token: one.owner.token,
    project: one.project,
    json: { name: 'beside' },
  })
  await one.use()
  const { body: beside } = await call(`${KEYS}/${body.key.id}/usage`, { token: one.owner.token, project: one.project })
  expect(beside).toEqual({ days: [], live_traffic: { requests: 0, networks: 0 }, refused_calls: [] })
})
