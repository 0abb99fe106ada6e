import { expect, it } from 'vitest'
import type { Domain } from '../../src/domains/store'
import { DIRECTORY, setHost } from '../harness'
import type { Zone } from '../outside/dns'
import { CLOUDFLARE, forgetCheck, GOOGLE, newApi, newName, texts, verified, zone } from './domains'

/* What resolvers say, and what a check makes of it: each case once for a project that waits, and once for one that holds. */

type Case = { says: string; zones: (value: string, name: string) => Zone | Record<string, Zone>; status: string }
const found = (value: string, more: Partial<Zone> = {}): Zone => ({ ...texts(value), ...more })

const CASES: Case[] = [
  { says: 'the value', zones: (value) => found(value), status: 'found' },
  {
    says: 'the value, from two resolvers without signatures',
    zones: (value) => found(value, { ad: false }),
    status: 'found',
  },
  {
    says: 'the value in several strings',
    zones: (value) => ({ records: [{ type: 'TXT', data: [value.slice(0, 9), value.slice(9, 10), value.slice(10)] }] }),
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
  { says: 'only a part', zones: (value) => found(value, { trouble: 'truncated' }), status: 'unreachable' },
  {
    says: 'the answer to another question',
    zones: (value) => found(value, { trouble: 'other_question' }),
    status: 'unreachable',
  },
  {
    says: 'a name that points to itself',
    zones: (value) => found(value, { trouble: 'pointer_loop' }),
    status: 'unreachable',
  },
  { says: 'a message that is cut off', zones: (value) => found(value, { trouble: 'cut_off' }), status: 'unreachable' },
  { says: '64 KB of junk', zones: () => ({ trouble: 'junk' }), status: 'unreachable' },
  { says: 'more than a message can have', zones: () => ({ trouble: 'endless' }), status: 'unreachable' },
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

it('what is stored of a check is little, and ours comes first', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  const { value } = body.records[0] as { value: string }
  await zone(
    body.hostname,
    texts(...Array.from({ length: 40 }, (_, n) => `${n} ${'ü"'.repeat(80)}`), 'platform-verify=old', value),
  )
  const { records } = (await api.verify(body.id)).body
  expect(records[0]?.seen.slice(0, 2)).toEqual([value, 'platform-verify=old'])
  for (const { values } of records[0]?.resolvers ?? []) {
    expect(values.length).toBeGreaterThan(2)
    for (const one of values) expect(one.length).toBeLessThanOrEqual(120)
  }
  expect(JSON.stringify((await rowOf(body.id)).evidence).length).toBeLessThanOrEqual(4096)
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
