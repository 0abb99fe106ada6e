import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyAll } from '../../src/billing/apply'
import { readOf, winnersRank } from '../../src/billing/fetched'
import { type Candidate, mergedState, nanoseconds, type ResolvedState } from '../../src/billing/reduce'
import { isErased } from '../../src/consumers/links'
import { type Db, openDb } from '../../src/db/client'
import { iso, SECOND } from '../../src/lib/time'
import { EVENT_STEPS, type Read, type Snapshot } from '../../src/vendors/snapshot'
import { stripe } from '../../src/vendors/stripe'
import { STORE } from '../harness'
import { END, named, rankOf } from './fetch-world'
import { anId, isoOf, stripeEventOf, stripeSubscription, T0 } from './payloads'

/* How an object that was fetched takes part in the order of events: any set of both, in any order, with repetitions. */

const RUNS = 3000

/** `END` is the final state. */
const state = fc.constantFrom('a', 'b', 'c', END)
const event = fc.record({
  time: fc.integer({ min: 1, max: 4 }),
  step: fc.constantFrom(...Object.values(EVENT_STEPS)),
  before: fc.option(state),
  after: state,
})
const fetched = fc.record({
  /** Between the times of events, or at one. */
  at: fc.integer({ min: 1, max: 9 }).map((half) => half / 2),
  lasts: fc.integer({ min: 0, max: 3 }),
  /** What it is over: one of the events, or of the fetches before it, if there are so many. */
  over: fc.option(fc.nat(9)),
  after: state,
})
const records = fc
  .record({
    events: fc.array(event, { maxLength: 5 }),
    fetches: fc.array(fetched, { maxLength: 4 }),
    ids: fc.uniqueArray(fc.integer({ min: 100, max: 999 }), { minLength: 9, maxLength: 9 }),
  })
  .map(({ events, fetches, ids }): Candidate[] => {
    const made: Candidate[] = events.map(({ time, step, before, after }, i) => ({
      ...named(`evt_${ids[i]}`),
      rank: rankOf(after, { time, step }),
      before,
      after,
      body: { status: after },
    }))
    for (const [i, { at, lasts, over, after }] of fetches.entries()) {
      const rank = over === null ? null : (made[over]?.rank ?? null)
      made.push(fetchOf(`ftc_${ids[events.length + i]}`, after, { at, until: at + lasts, over: rank }))
    }
    return made
  })

/** A fetch that shows a state. Times are seconds. */
function fetchOf(id: string, after: string, { at, until, over }: { at: number; until: number; over: string | null }) {
  const read = { at: iso(at * SECOND), until: iso(until * SECOND), over, cause: null }
  const rank = rankOf(after, { step: EVENT_STEPS.updated, read })
  return { ...named(id), rank, before: null, after, body: { status: after }, until: nanoseconds(read.until) }
}

const EMPTY: ResolvedState = { candidates: [], ambiguous: false }
const merged = (list: readonly Candidate[]) => list.reduce((row, one) => mergedState(row.candidates, one), EMPTY)
const isFetch = ({ until }: Candidate) => until !== undefined
const isFinal = ({ rank }: Candidate) => rank.startsWith('1')

/** Runs a property over any events and fetches of an object. */
function always(check: (all: Candidate[]) => void) {
  fc.assert(fc.property(records, check), { numRuns: RUNS })
}

it('every order and repetition of events and fetches ends in the same row', () => {
  const courses = records.chain((all) =>
    fc.record({
      all: fc.constant(all),
      order: fc.shuffledSubarray(all, { minLength: all.length }),
      again: fc.tuple(fc.subarray(all), fc.subarray(all)),
    }),
  )
  fc.assert(
    fc.property(courses, ({ all, order, again: [first, last] }) => {
      expect(merged([...order.slice(0, 2), ...first, ...order, ...last])).toEqual(merged(all))
    }),
    { numRuns: RUNS },
  )
})

it('a final state stays, whether an event or a fetch shows it', () => {
  always((all) => {
    expect(merged(all).candidates.slice(0, 1).some(isFinal)).toBe(all.some(isFinal))
  })
})

it('fetches change nothing about the order of events', () => {
  always((all) => {
    const alone = merged(all.filter((one) => !isFetch(one)))
    const row = merged(all)
    const withoutBody = ({ body: _, ...one }: Candidate) => one
    expect(row.candidates.filter((one) => !isFetch(one)).map(withoutBody)).toEqual(alone.candidates.map(withoutBody))
    const isAmbiguous = row.ambiguous || row.candidates.slice(0, 1).some(isFetch)
    expect(isAmbiguous || !alone.ambiguous).toBe(true)
  })
})

it('the highest rank wins, and only the winner and the events tied with it keep their bodies', () => {
  always((all) => {
    const { candidates } = merged(all)
    const [winner] = candidates
    const highest = all
      .map(({ rank }) => rank)
      .sort()
      .at(-1)
    expect(winner?.rank).toBe(highest)
    for (const { rank, body } of candidates) expect(body !== null).toBe(rank === highest)
    expect(candidates.filter(isFetch).length).toBeLessThan(2)
  })
})

it('a fetch wins over what was known when it began, and a second one over the first', () => {
  always((all) => {
    const row = merged(all)
    const over = winnersRank(row)
    const after = over?.startsWith('1') ? END : 'a'
    const first = fetchOf('ftc_1', after, { at: 0, until: 0, over })
    const second = fetchOf('ftc_2', after, { at: 0, until: 0, over: first.rank })
    expect(mergedState(row.candidates, first).candidates[0]).toEqual(first)
    expect(merged([second, ...all, first]).candidates[0]).toEqual(second)
  })
})

it('a fetch that is decoded again takes the place of its earlier form', () => {
  const decoded = (after: string, status: string): Candidate => ({
    ...fetchOf('ftc_1', 'a', { at: 1, until: 1, over: null }),
    after,
    body: { status },
  })
  for (const after of ['a', 'b', 'c'])
    expect(merged([decoded('b', 'old'), decoded(after, 'new')]).candidates).toEqual([decoded(after, 'new')])
})

describe('the rank of a fetch', () => {
  const { created, updated, deleted } = EVENT_STEPS
  const eventAt = (time: number, step: 0 | 1 | 2 = updated, state = 'a') => rankOf(state, { time, step })
  const fetchAt = (at: number, over: string | null = null, state = 'a') =>
    fetchOf('ftc_1', state, { at, until: at, over }).rank

  it.each([
    ['an older event < a fetch', eventAt(9, deleted), fetchAt(10)],
    ['a fetch < an event of its time', fetchAt(10), eventAt(10)],
    ['a fetch < a newer event', fetchAt(10), eventAt(11, created)],
    ['a newer event < a fetch over it', eventAt(11), fetchAt(10, eventAt(11))],
    ['a fetch over an event < another event of a higher step', fetchAt(10, eventAt(11)), eventAt(11, deleted)],
    ['an older event that a fetch is over < an event before the fetch', eventAt(8), fetchAt(10, eventAt(8))],
    ['a fetch over an older event < an event after the fetch', fetchAt(10, eventAt(8)), eventAt(10)],
    ['a fetch < a second one over it', fetchAt(10), fetchAt(10, fetchAt(10))],
    [
      'a fetch of a state that is not final < a final event',
      fetchAt(12, eventAt(11, updated, END)),
      eventAt(11, updated, END),
    ],
    ['an event < a fetch of a final state', eventAt(99), fetchAt(10, null, END)],
    [
      'a final event < a fetch of a final state over it',
      eventAt(11, updated, END),
      fetchAt(10, eventAt(11, updated, END), END),
    ],
  ])('%s', (_, lower, higher) => {
    expect(lower < higher).toBe(true)
  })

  it('rises with every fetch over the one before', () => {
    const ranks = Array.from({ length: 11 }).reduce<string[]>(
      (all) => [...all, fetchAt(10, all.at(-1) ?? eventAt(11))],
      [eventAt(11)],
    )
    expect(ranks.toSorted()).toEqual(ranks)
  })
})

describe('a fetch and events contradict each other', () => {
  const eventOf = (id: string, time: number, before: string | null, after: string): Candidate => {
    const rank = rankOf(after, { time, step: EVENT_STEPS.updated })
    return { ...named(id), rank, before, after, body: { status: after } }
  }
  const [first, second] = [eventOf('evt_1', 10, 'a', 'b'), eventOf('evt_2', 10, 'b', 'c')]
  const race = { at: 8, until: 10, over: null }
  const won = { at: 8, until: 12, over: second.rank }

  it.each<[string, boolean, Candidate[]]>([
    ['an event of the time of a fetch, which shows another state', true, [second, fetchOf('ftc_1', 'd', race)]],
    ['the same, with the state after the event', false, [second, fetchOf('ftc_1', 'c', race)]],
    ['the same, with the state before it', false, [second, fetchOf('ftc_1', 'b', race)]],
    ['an event after the latest time of a fetch', false, [second, fetchOf('ftc_1', 'd', { ...race, until: 9 })]],
    ['a fetch over an event that begins where the fetch ends', true, [second, fetchOf('ftc_1', 'b', won)]],
    [
      'the same, with an event that changes nothing',
      false,
      [eventOf('evt_2', 10, 'b', 'b'), fetchOf('ftc_1', 'b', won)],
    ],
    ['the same, with one of several events', true, [first, second, fetchOf('ftc_1', 'a', won)]],
    ['the same, with a fetch that is newer by its time', false, [second, fetchOf('ftc_1', 'b', { ...won, at: 11 })]],
    [
      'the same, with a second fetch',
      true,
      [second, fetchOf('ftc_1', 'b', { ...won, over: fetchOf('ftc_2', 'b', won).rank })],
    ],
  ])('%s: %s', (_, is, all) => {
    expect(merged(all).ambiguous).toBe(is)
    expect(merged(all.toReversed()).ambiguous).toBe(is)
  })
})

describe('when an answer was read', () => {
  const start = T0 * SECOND
  const answer = { date: new Date(start + 10_000).toUTCString(), tookMs: 1500, startedAt: start, over: null }
  const version = isoOf(T0 + 1).replace('Z', '.123456Z')
  const overOf = (updated_at: string | null) =>
    ['0', nanoseconds(isoOf(T0 + 5)), nanoseconds(updated_at), '1'].join('|')

  it.each<[string, Partial<Parameters<typeof readOf>[0]>, Partial<Read>]>([
    ['by its Date', {}, { at: iso(start + 3_500), until: iso(start + 13_000), over: null, cause: null }],
    ['without a Date', { date: null }, { at: iso(start - 60_000), until: iso(start + 61_500) }],
    ['with a Date that is none', { date: 'today' }, { at: iso(start - 60_000), until: iso(start + 61_500) }],
    ['of an object with a version', { version }, { at: version, until: iso(start + 13_000) }],
    ['over a winner without a version', { version, over: overOf(null) }, { over: overOf(null) }],
    ['over a winner of an earlier version', { version, over: overOf(isoOf(T0)) }, { over: overOf(isoOf(T0)) }],
    ['over a winner of the same version', { version, over: overOf(version) }, { over: overOf(version) }],
    ['not over a winner of a later version', { version, over: overOf(isoOf(T0 + 2)) }, { over: null }],
    ['for an event', { cause: isoOf(T0) }, { cause: isoOf(T0) }],
  ])('%s', (_, fields, expected) => {
    expect(readOf({ ...answer, ...fields })).toMatchObject(expected)
  })
})

describe('a fetched object that is applied', () => {
  const id = anId('sub')
  const snapshotOf = (status: string, at: number, read?: Read): Snapshot => {
    const event = stripeEventOf('customer.subscription.updated', stripeSubscription({ id, status }), { at })
    const [snapshot] = stripe.snapshots?.(event) ?? []
    return { ...(snapshot as Snapshot), ...(read && { read }) }
  }
  const readAt = (seconds: number, cause: string | null = null): Read =>
    readOf({ date: new Date(seconds * SECOND).toUTCString(), tookMs: 0, startedAt: 0, over: null, cause })
  const apply = async (...snapshots: Snapshot[]) => {
    const sources = snapshots.map((snapshot, i) => ({
      project_id: 'prj_1',
      event_id: `id_${i}`,
      vendor: 'stripe',
      vendor_event_id: `id_${i}`,
      customer: null,
      snapshots: [snapshot],
      earlier: [],
    }))
    const applied = await applyAll(openDb<Db>(STORE), sources, isErased)
    return { effects: [...(applied?.effects.values() ?? [])].flat(), row: applied?.projections[0] }
  }

  it('wins over an older event and keeps its latest time', async () => {
    const { effects, row } = await apply(snapshotOf('active', T0), snapshotOf('paused', T0 + 60, readAt(T0 + 60)))
    expect(effects).toMatchObject([{ result: 'applied' }, { result: 'applied', change: { status: { to: 'paused' } } }])
    expect(row?.candidates).toMatchObject([
      { event_id: 'id_1', before: null, until: nanoseconds(isoOf(T0 + 63)), body: { status: 'paused' } },
      { event_id: 'id_0', body: null },
    ])
    expect(row?.candidates[1]).not.toHaveProperty('until')
  })

  it('is superseded by a newer event', async () => {
    const { effects, row } = await apply(snapshotOf('active', T0 + 90), snapshotOf('paused', T0, readAt(T0)))
    expect(effects).toMatchObject([{ result: 'applied' }, { result: 'superseded', change: null }])
    expect(row).toMatchObject({
      ambiguous: false,
      candidates: [{ event_id: 'id_0' }, { event_id: 'id_1', body: null }],
    })
  })

  it('is ambiguous if the event may be older than it looks', async () => {
    const { effects, row } = await apply(snapshotOf('active', T0), snapshotOf('paused', T0, readAt(T0)))
    expect(effects).toMatchObject([{ result: 'applied' }, { result: 'superseded' }])
    expect(row).toMatchObject({ ambiguous: true, candidates: [{ event_id: 'id_0' }, { event_id: 'id_1' }] })
  })

  it.each([
    ['an event', undefined, nanoseconds(isoOf(T0))],
    ['a fetch that an event caused', readAt(T0 + 60, isoOf(T0 + 50)), nanoseconds(isoOf(T0 + 50))],
    ['another fetch', readAt(T0 + 60), undefined],
  ])('says since when it is past due: %s', async (_, read, since) => {
    const { row } = await apply(snapshotOf('past_due', T0, read))
    expect(row?.past_due?.since).toBe(since)
  })
})
