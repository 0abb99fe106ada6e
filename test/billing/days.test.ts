import { beforeEach, describe, expect, it } from 'vitest'
import { WALK_HOURS, WALKED_AT_ONCE } from '../../src/inbox/renewals/limits'
import { DAY, HOUR, SECOND } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { insertConsumer, insertLink } from '../consumers/rows'
import { freshProject, STORE } from '../harness'
import { keepHouse, rows } from '../inbox/pipeline'

/** Midnight of a day: a walk begins with it. */
const MIDNIGHT = Date.parse('2026-11-27T00:00:00Z')
const TODAY = MIDNIGHT / DAY

beforeEach(() => {
  stopClock(MIDNIGHT)
})

const timeOf = (at: number) => new Date(at).toISOString()

type Seeded = { customer?: string; n?: number; status?: string; since?: string | null; body?: Record<string, unknown> }

let seeds = 0
/** Subscriptions as rows, without their events. @returns how their ids begin */
async function seed(
  project: string,
  { customer, n = 1, status = 'active', since = null, body = {} }: Seeded,
): Promise<string> {
  const prefix = `sub_${++seeds}_`
  await STORE.prepare(
    `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, status, version, candidates, past_due_since, customer)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      SELECT ?, 'subscription', printf('%s%06d', ?, i), 'stripe', ?, 1, ?, ?, ? FROM n`,
  )
    .bind(n, project, prefix, status, JSON.stringify([{ event_id: 'evt_1', body }]), since, customer ?? null)
    .run()
  return prefix
}

/** The days of a project, the earliest first. */
const daysOf = (project: string) =>
  rows('SELECT * FROM billing_days WHERE project_id = ? ORDER BY livemode DESC, day', project)

const NONE = { active: 0, trialing: 0, past_due: 0, unlinked: 0, created: 0, lost: 0, failed: 0 }

describe('the days of a project', () => {
  it('count all of its subscriptions, in live and in test mode, however many steps a walk takes', async () => {
    const { project } = await freshProject()
    const { project: other } = await freshProject()
    const { project: empty } = await freshProject()
    const n = 5 * WALKED_AT_ONCE
    const body = { livemode: true, created_at: timeOf(MIDNIGHT) }
    await seed(project, { n: n + 7, body })
    await seed(project, { n: 3, status: 'trialing', body: { created_at: timeOf(MIDNIGHT - DAY) } })
    await seed(project, { n: 2, status: 'past_due', body: { livemode: true } })
    await seed(project, { n: 4, status: 'paused' })
    await seed(project, { n, body: { livemode: false } })
    await seed(other, { n: 4, body: { livemode: false } })
    // Of a row that is so large, little else is read.
    await seed(other, { body: { livemode: false, metadata: { note: 'x'.repeat(70_000) } } })
    await keepHouse()
    const row = { ...NONE, project_id: project, day: TODAY, counted_at: MIDNIGHT }
    expect(await daysOf(project)).toEqual([
      { ...row, livemode: 1, active: n + 7, trialing: 3, past_due: 2, created: n + 7 },
      { ...row, livemode: 0, active: n },
    ])
    expect(await daysOf(other)).toEqual([{ ...row, project_id: other, livemode: 0, active: 5 }])
    expect(await daysOf(empty)).toEqual([])
    // A walk that comes again finds the same.
    setClock(MIDNIGHT + WALK_HOURS * HOUR)
    await keepHouse()
    expect(await daysOf(other)).toEqual([
      { ...row, project_id: other, livemode: 0, active: 5, counted_at: MIDNIGHT + WALK_HOURS * HOUR },
    ])
  })

  it.each<[string, Seeded, Partial<typeof NONE>]>([
    ['created in its first moment', { body: { created_at: timeOf(MIDNIGHT) } }, { active: 1, created: 1 }],
    ['created a moment earlier', { body: { created_at: '2026-11-26T23:59:59.999999Z' } }, { active: 1 }],
    ['created, whose first payment is missing', { status: 'incomplete', body: { created_at: timeOf(MIDNIGHT) } }, {}],
    [
      'that ended',
      { status: 'canceled', body: { ended_at: timeOf(MIDNIGHT), updated_at: timeOf(MIDNIGHT - DAY) } },
      { lost: 1 },
    ],
    [
      'that ended, at a vendor that only says when it changed',
      { status: 'canceled', body: { updated_at: timeOf(MIDNIGHT) } },
      { lost: 1 },
    ],
    ['that changed', { body: { updated_at: timeOf(MIDNIGHT) } }, { active: 1 }],
    [
      'that became past due',
      { status: 'past_due', since: '2026-11-27T00:00:00.000000000' },
      { past_due: 1, failed: 1 },
    ],
    ['that became past due and has paid', { since: '2026-11-27T00:00:00.000000000' }, { active: 1, failed: 1 }],
    [
      'that became past due the day before',
      { status: 'past_due', since: '2026-11-26T23:59:59.000000000' },
      { past_due: 1 },
    ],
  ])('a subscription %s', async (_, seeded, found) => {
    const { project } = await freshProject()
    await seed(project, seeded)
    await keepHouse()
    expect(await daysOf(project)).toEqual([
      { ...NONE, ...found, project_id: project, livemode: 1, day: TODAY, counted_at: MIDNIGHT },
    ])
  })

  it('count those whose customer waits for a consumer', async () => {
    const { project } = await freshProject()
    const consumer = await insertConsumer(project, 'user_1')
    await insertLink(project, 'cus_pinned', { pinned: consumer })
    await insertLink(project, 'cus_nobody', { pinned: '' })
    await insertLink(project, 'cus_said', { hint: 'user_1' })
    await insertLink(project, 'cus_early', { hint: 'user_2' })
    // Another vendor's customers with the same ids have a consumer.
    for (const customer of ['cus_none', 'cus_early'])
      await insertLink(project, customer, { pinned: consumer, vendor: 'paddle' })
    for (const customer of ['cus_pinned', 'cus_nobody', 'cus_said']) await seed(project, { customer })
    for (const status of ['active', 'trialing', 'past_due', 'canceled'])
      await seed(project, { customer: 'cus_none', status })
    await seed(project, { customer: 'cus_early' })
    await seed(project, {})
    await keepHouse()
    expect(await daysOf(project)).toMatchObject([{ active: 6, trialing: 1, past_due: 1, unlinked: 4 }])
  })

  it('keep what was true at the last walk of each day, and learn what happened after it', async () => {
    const { project } = await freshProject()
    const id = `${await seed(project, { n: 2, body: { created_at: timeOf(MIDNIGHT - DAY) } })}000001`
    await keepHouse()
    // In the evening, after the last walk of the day, one of them ends, and another one is created.
    const evening = MIDNIGHT + 23 * HOUR
    await STORE.prepare(
      "UPDATE billing_objects SET status = 'canceled', candidates = json_set(candidates, '$[0].body.ended_at', ?) WHERE vendor_id = ?",
    )
      .bind(timeOf(evening), id)
      .run()
    await seed(project, { n: 3, status: 'trialing', body: { created_at: timeOf(evening + SECOND) } })
    setClock(MIDNIGHT + DAY)
    await keepHouse()
    const of = { ...NONE, project_id: project, livemode: 1 }
    const yesterday = { ...of, day: TODAY, active: 2, created: 3, lost: 1, counted_at: MIDNIGHT }
    const today = { ...of, day: TODAY + 1, active: 1, trialing: 3, counted_at: MIDNIGHT + DAY }
    expect(await daysOf(project)).toEqual([yesterday, today])
    // A day without a walk stays unknown, and old days go.
    setClock(MIDNIGHT + 401 * DAY)
    await keepHouse()
    expect(await daysOf(project)).toEqual([today, { ...today, day: TODAY + 401, counted_at: MIDNIGHT + 401 * DAY }])
  })
})
