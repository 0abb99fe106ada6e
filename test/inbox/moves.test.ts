import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb, run } from '../../src/db/client'
import { FINAL_STATUSES, leftBy, type Move, OPEN_STATUSES, STATUSES, type Status } from '../../src/inbox/lifecycle'
import { claim, claimExpired, type EventKey, selectClaimed } from '../../src/inbox/process/claim'
import { finish } from '../../src/inbox/process/finish'
import { handBack } from '../../src/inbox/process/hand-back'
import { MAX_TRIES } from '../../src/inbox/process/limits'
import { takeDead } from '../../src/inbox/process/sweep'
import { HOUR, MINUTE } from '../../src/lib/time'
import { fail } from '../../src/vendors/event-errors'
import { call, STORE } from '../harness'
import { memoryQueue, type Rows, rows, stopClock } from './pipeline'
import { freshReader, insertConnection, insertEvents, insertPayload, seedEvent } from './seeding'

/* Which statuses each move leaves: as data, and as the statements that make the move. */

const LEFT_BY: Record<Move, readonly Status[]> = {
  claim: ['received', 'queued'],
  retry: ['retrying'],
  take_over: ['processing'],
  finish: ['processing'],
  hand_back: ['processing'],
  give_up: ['processing'],
  replay: ['processed', 'ignored', 'failed'],
}
const MOVES = Object.keys(LEFT_BY) as Move[]
const HELD = 'lse_held'
const db = openDb<Db>(STORE)
let now: number

beforeEach(() => {
  now = stopClock()
})

type Same = { tries?: number; next_attempt_at?: number }

/** Events of every status that are alike in everything else: the status alone decides what moves them. */
async function oneOfEach({ tries = 1, next_attempt_at = now - MINUTE }: Same) {
  const { project, secret } = await freshReader()
  const connection = await insertConnection(project, 'stripe')
  const seeds = STATUSES.map((status) =>
    seedEvent({ connection, received_at: now - HOUR, status, lease_until: now - MINUTE }),
  )
  await insertEvents(project, seeds)
  for (const seed of seeds) await insertPayload(project, seed, '{}')
  await rows(
    'UPDATE events SET lease_token = ?, next_attempt_at = ?, tries = ? WHERE project_id = ?',
    ...[HELD, next_attempt_at, tries, project],
  )
  const keys = seeds.map(({ id }): EventKey => ({ project_id: project, event_id: id }))
  return { project, secret, keys }
}
type Events = Awaited<ReturnType<typeof oneOfEach>>

const CLAIM = ({ keys }: Events) => claim(db, keys, { lease: 'lse_new', now, apart: false })

/** How each move is made, and the events' common state in which it may be made. */
const MADE: Record<Move, { of?: (at: number) => Same; by: (events: Events) => Promise<unknown>; also?: Move }> = {
  claim: { of: (at) => ({ next_attempt_at: at + 1 }), by: CLAIM },
  retry: { of: (at) => ({ next_attempt_at: at }), by: CLAIM, also: 'claim' },
  take_over: {
    by: async ({ keys }) => {
      for (const key of keys) await claimExpired(db, key, 'lse_new', now)
    },
  },
  finish: {
    by: async ({ keys }) => {
      const held = await run(db, selectClaimed(db, keys, HELD))
      expect(held).toHaveLength(STATUSES.length)
      const error = fail('internal_error', 'an error')
      const verdicts = held.map((event) => ({
        ...{ event, status: 'failed' as const, error, due_at: null, trigger: 'ingest' as const },
        ...{ started_at: now, summary: null, snapshots: [], claims: [] },
      }))
      const nobody = { woken_endpoints: [], woken_watchers: [] }
      const written = { noted: new Set(), woken: nobody }
      expect(await finish(db, { verdicts, projections: [], lease: HELD, now })).toEqual(written)
    },
  },
  hand_back: { by: ({ keys }) => handBack(db, keys, { lease: HELD, died: false }, now) },
  give_up: {
    of: () => ({ tries: MAX_TRIES }),
    by: () => takeDead(db, { lease: 'lse_new', leaseUntil: now + MINUTE, most: 100 }, now),
  },
  replay: {
    by: async ({ project, secret, keys }) => {
      const options = { method: 'POST', project, token: secret, bindings: { EVENTS: memoryQueue().EVENTS } }
      for (const { event_id } of keys) {
        const { status } = await call(`/platform/v1/billing/webhooks/${event_id}/replay`, options)
        expect(status).toBe(202)
      }
    },
  },
}

describe('the lifecycle', () => {
  it.each(MOVES)('%s leaves the statuses that are written down here', (move) => {
    expect(leftBy(move)).toEqual(LEFT_BY[move])
  })

  it('leaves no status without a way out, and final ones by a replay alone', () => {
    expect(new Set(MOVES.flatMap((move) => leftBy(move)))).toEqual(new Set(STATUSES))
    for (const move of MOVES) {
      const finals = leftBy(move).filter((status) => (FINAL_STATUSES as Status[]).includes(status))
      expect(finals).toEqual(move === 'replay' ? FINAL_STATUSES : [])
    }
    expect(new Set([...FINAL_STATUSES, ...OPEN_STATUSES])).toEqual(new Set(STATUSES))
  })

  it.each(MOVES)('%s, as its statement makes it, leaves these statuses and no other', async (move) => {
    const { of = () => ({}), by, also } = MADE[move]
    const events = await oneOfEach(of(now))
    const read = () =>
      rows<Rows['events']>(
        'SELECT id, status, lease_token, attempts FROM events WHERE project_id = ? ORDER BY id',
        events.project,
      )
    const before = new Map((await read()).map((row) => [row.id, row]))
    await by(events)
    const moved = (await read()).filter((row) => JSON.stringify(row) !== JSON.stringify(before.get(row.id)))
    const left = moved.map(({ id }) => before.get(id)?.status)
    expect(left.sort()).toEqual([...LEFT_BY[move], ...(also ? LEFT_BY[also] : [])].sort())
  })
})
