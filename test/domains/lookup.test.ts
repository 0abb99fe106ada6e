import { expect, it, vi } from 'vitest'
import type { Domain } from '../../src/domains/domain'
import { stopTimers } from '../clock'
import { DIRECTORY, setHost } from '../harness'
import type { Zone } from '../outside/dns'
import { CLOUDFLARE, forgetCheck, GOOGLE, newApi, newName, queriesOf, texts, verified, zone } from './domains'

/* What resolvers say, and what a check makes of it: each case once for a project that waits, and once for one that holds. */

type Case = { says: string; zones: (value: string, name: string) => Zone | Record<string, Zone>; status: string }
const found = (value: string, more: Partial<Zone> = {}): Zone => ({ ...texts(value), ...more })

/** Aliases, one after the other, and the value at the end. */
const chain = (name: string, aliases: number, value: string): Zone => ({
  records: [
    ...Array.from({ length: aliases }, (_, n) => ({
      type: 'CNAME' as const,
      name: n === 0 ? name : `${n}.${name}`,
      data: `${n + 1}.${name}`,
    })),
    { type: 'TXT', name: `${aliases}.${name}`, data: value },
  ],
})

const CASES: Case[] = [
  { says: 'the value', zones: (value) => found(value), status: 'found' },
  {
    says: 'the value, from two resolvers without signatures',
    zones: (value) => found(value, { ad: false }),
    status: 'found',
  },
  {
    says: 'the value, and repeats the name in capitals',
    zones: (value) => found(value, { trouble: 'other_case' }),
    status: 'found',
  },
  {
    says: 'the value in several strings',
    zones: (value) => ({ records: [{ type: 'TXT', data: [value.slice(0, 9), value.slice(9, 10), value.slice(10)] }] }),
    status: 'found',
  },
  {
    says: 'the value among others, in an order and a number that differ',
    zones: (value) => ({
      [GOOGLE]: { ...texts('platform-verify=old', value, value, 'v=spf1'), ad: false },
      [CLOUDFLARE]: { ...texts(value, 'platform-verify=old'), ad: false },
    }),
    status: 'found',
  },
  {
    says: 'forty values, ours the last',
    zones: (value) => texts(...Array.from({ length: 39 }, (_, n) => `v=spf${n} ${'x'.repeat(200)}`), value),
    status: 'found',
  },
  {
    says: 'a chain of aliases',
    zones: (value, name) => ({
      records: [
        { type: 'CNAME', data: `1.${name}` },
        { type: 'CNAME', name: `1.${name}`, data: `2.${name.toUpperCase()}` },
        { type: 'TXT', name: `2.${name}`, data: value },
      ],
    }),
    status: 'found',
  },
  {
    says: 'the value with signatures, while the other resolver is out',
    zones: (value) => ({ [GOOGLE]: found(value), [CLOUDFLARE]: { trouble: 'http' } }),
    status: 'found',
  },
  {
    says: 'the value with signatures, while the other resolver has old data',
    zones: (value) => ({ [GOOGLE]: found(value), [CLOUDFLARE]: { rcode: 'NXDOMAIN', ad: false } }),
    status: 'found',
  },
  { says: 'that there is no such name', zones: () => ({ rcode: 'NXDOMAIN' }), status: 'missing' },
  { says: 'that there are no such records', zones: () => texts(), status: 'missing' },
  { says: 'other texts', zones: () => texts('v=spf1 -all'), status: 'wrong' },
  { says: 'an older value', zones: () => texts('platform-verify=old'), status: 'wrong' },
  { says: 'the value in capitals', zones: (value) => texts(value.toUpperCase()), status: 'wrong' },
  { says: 'the value and a space', zones: (value) => texts(`${value} `), status: 'wrong' },
  {
    says: 'the value in a record of another class',
    zones: (value) => ({ records: [{ type: 'TXT', class: 'CH', data: value }] }),
    status: 'missing',
  },
  {
    says: 'the value in a record of another type',
    zones: (value) => ({ records: [{ type: 'SPF', data: value }] }),
    status: 'missing',
  },
  {
    says: 'the value beside the answer',
    zones: (value) => ({ records: [], additionals: [{ type: 'TXT', data: value }] }),
    status: 'missing',
  },
  {
    says: 'an alias of another class',
    zones: (value, name) => ({
      records: [
        { type: 'CNAME', class: 'CH', data: `1.${name}` },
        { type: 'TXT', name: `1.${name}`, data: value },
      ],
    }),
    status: 'missing',
  },
  {
    says: 'a value of another name',
    zones: (value, name) => ({ records: [{ type: 'TXT', name: `other.${name}`, data: value }] }),
    status: 'missing',
  },
  { says: 'that it failed', zones: () => ({ rcode: 'SERVFAIL' }), status: 'unreachable' },
  { says: 'that it refuses', zones: () => ({ rcode: 'REFUSED' }), status: 'unreachable' },
  {
    says: 'what no other resolver confirms',
    zones: (value) => ({ [GOOGLE]: found(value, { ad: false }), [CLOUDFLARE]: { rcode: 'SERVFAIL' } }),
    status: 'unreachable',
  },
  {
    says: 'what another one denies',
    zones: (value) => ({ [GOOGLE]: found(value, { ad: false }), [CLOUDFLARE]: { rcode: 'NXDOMAIN', ad: false } }),
    status: 'unreachable',
  },
  {
    says: 'what another one denies with signatures too',
    zones: (value) => ({ [GOOGLE]: found(value), [CLOUDFLARE]: { rcode: 'NXDOMAIN' } }),
    status: 'unreachable',
  },
  {
    says: 'to ask another one',
    zones: (value) => ({
      [GOOGLE]: { moved: `mirror.${GOOGLE}` },
      [CLOUDFLARE]: { moved: `mirror.${GOOGLE}` },
      [`mirror.${GOOGLE}`]: found(value),
    }),
    status: 'unreachable',
  },
  {
    says: 'the value, as an error of HTTP',
    zones: (value) => found(value, { trouble: 'http' }),
    status: 'unreachable',
  },
  {
    says: 'the value, with an error',
    zones: (value) => found(value, { rcode: 'SERVFAIL' }),
    status: 'unreachable',
  },
  { says: 'only a part', zones: (value) => found(value, { trouble: 'truncated' }), status: 'unreachable' },
  {
    says: 'the answer to another question',
    zones: (value) => found(value, { trouble: 'other_question' }),
    status: 'unreachable',
  },
  {
    says: 'the answer about another type',
    zones: (value) => found(value, { trouble: 'other_type' }),
    status: 'unreachable',
  },
  {
    says: 'the answer about another class',
    zones: (value) => found(value, { trouble: 'other_class' }),
    status: 'unreachable',
  },
  {
    says: 'the answer to two questions',
    zones: (value) => found(value, { trouble: 'two_questions' }),
    status: 'unreachable',
  },
  {
    says: 'that there are two questions, and repeats one',
    zones: (value) => found(value, { trouble: 'miscounted' }),
    status: 'unreachable',
  },
  {
    says: 'the answer to no question',
    zones: (value) => found(value, { trouble: 'no_question' }),
    status: 'unreachable',
  },
  {
    says: 'the value, as a query',
    zones: (value) => found(value, { trouble: 'query' }),
    status: 'unreachable',
  },
  {
    says: 'a string that is longer than its record',
    zones: (value) => found(value, { trouble: 'long_string' }),
    status: 'unreachable',
  },
  {
    says: 'a name that points to itself',
    zones: (value) => found(value, { trouble: 'pointer_loop' }),
    status: 'unreachable',
  },
  { says: 'a message that is cut off', zones: (value) => found(value, { trouble: 'cut_off' }), status: 'unreachable' },
  { says: '64 KB of junk', zones: () => ({ trouble: 'junk' }), status: 'unreachable' },
  {
    says: 'more than a message can have',
    zones: (value) => found(value, { trouble: 'endless' }),
    status: 'unreachable',
  },
  { says: 'a chain of eight aliases', zones: (value, name) => chain(name, 8, value), status: 'found' },
  { says: 'a chain of nine aliases', zones: (value, name) => chain(name, 9, value), status: 'unreachable' },
  {
    says: 'a loop of aliases',
    zones: (_, name) => ({
      records: [
        { type: 'CNAME', data: `1.${name}` },
        { type: 'CNAME', name: `1.${name}`, data: name },
      ],
    }),
    status: 'unreachable',
  },
]

it.each(CASES)('a resolver says $says: $status', async ({ zones, status }) => {
  const { api } = await newApi()
  const name = newName()
  const { body } = await api.add(name)
  const { name: owner, value } = body.records[0] as { name: string; value: string }
  await setHost(owner, allOf(zones(value, owner)))
  const waiting = await api.verify(body.id)
  expect(waiting.body).toMatchObject({
    state: status === 'found' ? 'verified' : 'pending',
    records: [{ status }],
  })
  expect(waiting.body.records[0]?.resolvers).toHaveLength(2)

  const held = await verified(api)
  const record = held.records[0] as { name: string; value: string }
  await setHost(record.name, allOf(zones(record.value, record.name)))
  await forgetCheck(held.id)
  expect((await api.verify(held.id)).body).toMatchObject({ state: 'verified', records: [{ status }] })
  const isAbsent = status === 'missing' || status === 'wrong'
  expect(await rowOf(held.id)).toMatchObject({ absent: isAbsent ? 1 : 0 })
})

it('a resolver that is silent for three seconds has given no answer', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await zone(body.hostname, { trouble: 'silent' })
  stopTimers()
  const checking = api.verify(body.id)
  while ((await queriesOf(body.hostname)).length < 2) await scheduler.wait(1)
  await vi.advanceTimersByTimeAsync(3000)
  const { records } = (await checking).body
  expect(records).toMatchObject([{ status: 'unreachable', resolvers: [{ rcode: 'silent for 3 s' }, {}] }])
})

it.each<[Zone, string]>([
  [{ trouble: 'junk' }, 'unreadable'],
  [{ trouble: 'cut_off' }, 'unreadable'],
  [{ trouble: 'endless' }, 'unreadable'],
  [{ trouble: 'truncated' }, 'truncated'],
  [{ trouble: 'http' }, 'HTTP 503'],
  [{ moved: `mirror.${GOOGLE}` }, 'HTTP 307'],
  [{ rcode: 'REFUSED' }, 'REFUSED'],
])('a check says what was wrong with an answer: %o', async (answer, rcode) => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await setHost(body.records[0]?.name as string, { all: { ...texts('x'), ...answer } })
  expect((await api.verify(body.id)).body.records[0]?.resolvers).toMatchObject([{ rcode }, { rcode }])
})

it('what is shown of a value has no characters that cannot be seen', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await zone(body.hostname, texts('a\0b\u202ec'))
  const { records } = (await api.verify(body.id)).body
  expect(records[0]?.seen).toEqual(['a\ufffdb\ufffdc'])
})

it('of forty values, eight are stored', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await zone(body.hostname, texts(...Array.from({ length: 40 }, (_, n) => `v${n}`)))
  const { records } = (await api.verify(body.id)).body
  expect(records[0]?.resolvers.map(({ values }) => values.length)).toEqual([8, 8])
})

it('what is stored of a check is little, and ours comes first', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  const { value } = body.records[0] as { value: string }
  await zone(
    body.hostname,
    texts(...Array.from({ length: 40 }, (_, n) => `${n} ${'€"'.repeat(60)}`), 'platform-verify=old', value),
  )
  const { records } = (await api.verify(body.id)).body
  expect(records[0]?.seen.slice(0, 2)).toEqual([value, 'platform-verify=old'])
  for (const { values } of records[0]?.resolvers ?? []) {
    expect(values.length).toBeGreaterThan(2)
    for (const one of values) expect(one.length).toBeLessThanOrEqual(120)
  }
  const stored = new TextEncoder().encode(String((await rowOf(body.id)).evidence))
  expect(stored.byteLength).toBeGreaterThan(2048)
  expect(stored.byteLength).toBeLessThanOrEqual(4096)
})

it('a deployment names its own resolvers; one alone needs signatures', async () => {
  const { api } = await newApi({ bindings: { DNS_RESOLVERS: `https://${GOOGLE}/dns-query` } })
  const { body } = await api.add(newName())
  const value = body.records[0]?.value as string
  await zone(body.hostname, found(value, { ad: false }))
  expect((await api.verify(body.id)).body.records).toMatchObject([
    { status: 'unreachable', resolvers: [{ name: GOOGLE }] },
  ])
  await zone(body.hostname, found(value))
  await forgetCheck(body.id)
  expect((await api.verify(body.id)).body.state).toBe('verified')
})

/** The same zones for every resolver, unless there are several. */
function allOf(zones: Zone | Record<string, Zone>): Record<string, Zone> {
  return GOOGLE in zones ? (zones as Record<string, Zone>) : { all: zones as Zone }
}

async function rowOf(id: string): Promise<Domain> {
  return (await DIRECTORY.prepare('SELECT * FROM domains WHERE id = ?').bind(id).first()) as Domain
}
