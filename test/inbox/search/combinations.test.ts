import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { STATUSES } from '../../../src/inbox/lifecycle'
import { cases } from '../../harness'
import { walk } from '../seeding'
import { at, BASE, CODES, expected, idsOf, oracleWorld, pathOf, type Query, REFS, TYPES } from './oracle'

let here: Awaited<ReturnType<typeof oracleWorld>>
beforeAll(async () => {
  here = await oracleWorld(210)
})

const FILTERS = [
  'id',
  'event_type',
  'status',
  'vendor',
  'connection_id',
  'vendor_event_id',
  'ref',
  'received_after',
  'received_before',
  'min_attempts',
  'error',
  'error_code',
  'replay_id',
  'livemode',
] as const

/** Queries of at most four filters: with all of them nothing is ever found. */
function combinations({ connections, events }: typeof here): fc.Arbitrary<Query> {
  const some = <T>(list: readonly T[]) => fc.option(fc.constantFrom(...list), { nil: undefined, freq: 2 })
  const several = <T>(list: readonly T[]) =>
    fc.option(fc.array(fc.constantFrom(...list), { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 })
  const seconds = fc.option(fc.integer({ min: -1, max: 81 }), { nil: undefined, freq: 2 })
  const ids = [...events.filter((_, n) => n % 20 === 0).map(({ id }) => id), 'evt_none', '"', 'ftc_1']
  const query = fc.record({
    id: fc.option(fc.array(fc.constantFrom(...ids), { minLength: 1, maxLength: 20 }), { nil: undefined, freq: 2 }),
    event_type: several([...TYPES, 'customer.*', 'invoice*', '*']),
    status: several(STATUSES),
    vendor: some(['stripe', 'stripe', 'paddle', 'shopify']),
    connection_id: some(connections),
    vendor_event_id: some(['evt_3', 'evt_100']),
    ref: some(REFS),
    received_after: seconds,
    received_before: seconds,
    min_attempts: some([1, 2, 3]),
    error: some(['amount', 'IS MISSING', '100%', 'Échec']),
    error_code: some(CODES.filter((code) => code !== null)),
    replay_id: some(['rpl_1', 'rpl_2', 'rpl_none']),
    livemode: some([true, false]),
    order: fc.constantFrom('asc', 'desc'),
  })
  return fc.tuple(query, fc.subarray([...FILTERS], { maxLength: 4 })).map(([all, kept]) => {
    const { order, received_after: after, received_before: before } = all
    const out: Record<string, unknown> = { order }
    for (const name of kept) if (all[name] !== undefined) out[name] = all[name]
    if (out.received_after !== undefined) out.received_after = at(BASE + (after ?? 0) * 1000)
    if (out.received_before !== undefined) out.received_before = at(BASE + (before ?? 0) * 1000)
    if (out.received_after && out.received_before && (after ?? 0) >= (before ?? 0)) delete out.received_before
    return out as Query
  })
}

/** In parts, so that none of them is long on a slow machine. */
it.each(Array.from({ length: cases(15) }, (_, part) => part))(
  'search finds what looking at every event finds, by any combination of filters, in both orders, in pages of any size (%i)',
  async (part) => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(combinations(here), fc.integer({ min: 1, max: 100 }), async (one, least) => {
        const wanted = expected(here.events, here.vendors, one)
        if (wanted.length > 0) found += 1
        const limit = Math.max(least, Math.ceil(wanted.length / 6)) // few enough pages to walk
        expect(idsOf(await walk(here.read, pathOf(one), limit))).toEqual(wanted)
      }),
      { numRuns: 20, seed: 20260504 + part },
    )
    expect(found).toBeGreaterThan(5)
  },
)
