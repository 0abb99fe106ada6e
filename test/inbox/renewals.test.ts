import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { WALK_HOURS, WALKED_AT_ONCE } from '../../src/inbox/renewals/limits'
import { walkRenewals } from '../../src/inbox/renewals/walk'
import { DAY, HOUR, SECOND } from '../../src/lib/time'
import { anId, type Fields, isoOf, stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { setClock, stopClock } from '../clock'
import { visit } from '../console/visit'
import { noticesIn } from '../exposures/world'
import { addMember, call, countingD1, STORE, STORE_NUMBER } from '../harness'
import { doubtWorld } from './doubts/world'
import { keepHouse, rows } from './pipeline'

/** Noon of a day, at which a walk begins. */
const NOON = Date.parse('2026-11-27T12:00:00Z')
const seconds = (ms: number) => Math.floor(ms / SECOND)
/** The end of a period that was over for a day at {@link NOON}. */
const ENDED = NOON - DAY
const MONTH = 30 * DAY

beforeEach(() => {
  stopClock(NOON - 2 * DAY)
})

/** A subscription in live mode whose period ends then. */
function endingAt(end: number, fields: Fields = {}) {
  const period = { current_period_start: seconds(end - MONTH), current_period_end: seconds(end) }
  const items = { object: 'list', data: [stripeItem(period)], has_more: false, total_count: 1 }
  return stripeSubscription({ livemode: true, items, ...fields }) as Fields & { id: string }
}

/** What the vendor says of a subscription at a time. */
const said = (object: Fields, at: number) => ({
  ...stripeEventOf('customer.subscription.updated', object, { at: seconds(at) }),
  livemode: object.livemode,
})

/** A project, with a live connection, of which these events were received. */
async function world(...events: object[]) {
  const made = await doubtWorld([], { key: false })
  for (const event of events) await made.send(event)
  await made.queue.pump()
  setClock(NOON)
  return made
}
type World = Awaited<ReturnType<typeof world>>

async function overdueIn({ token, project }: World, query = 'overdue=true') {
  const { status, body } = await call(`/platform/v1/billing/subscriptions?${query}`, { token, project })
  expect(status).toBe(200)
  return (body.data as { id: string }[]).map(({ id }) => id)
}
const missingIn = async ({ project }: World) =>
  (await noticesIn(project)).filter(({ kind }) => kind === 'renewals_missing')

describe('a subscription that was to renew', () => {
  const before = ENDED - MONTH / 2
  const scheduled = (action: string) => ({ schedule: null, cancel_at_period_end: action === 'cancel' })
  it.each<[string, boolean, Fields & { id: string }, number]>([
    ['a day ago', true, endingAt(ENDED), before],
    ['not a whole day ago', false, endingAt(ENDED + SECOND), before],
    ['in a trial', true, endingAt(ENDED, { status: 'trialing' }), before],
    ['while it is past due', true, endingAt(ENDED, { status: 'past_due' }), before],
    ['but was canceled', false, endingAt(ENDED, { status: 'canceled', ended_at: seconds(before) }), before],
    ['but is to be canceled then', false, endingAt(ENDED, scheduled('cancel')), before],
    ['but was to be canceled before', false, endingAt(ENDED, { cancel_at: seconds(ENDED) }), before],
    ['and is to be canceled later', true, endingAt(ENDED, { cancel_at: seconds(NOON + MONTH) }), before],
    ['but is unpaid', false, endingAt(ENDED, { status: 'unpaid' }), before],
    ['but is paused', false, endingAt(ENDED, { status: 'paused' }), before],
    ['but the vendor said something since', false, endingAt(ENDED, { status: 'past_due' }), ENDED + HOUR],
    ['and the vendor said something at that moment', true, endingAt(ENDED), ENDED],
    ['in test mode', false, endingAt(ENDED, { livemode: false }), before],
  ])('%s: overdue %s', async (_, isOverdue, subscription, at) => {
    const of = await world(said(subscription, at))
    expect(await overdueIn(of)).toEqual([]) // no walk yet
    await keepHouse()
    expect(await overdueIn(of)).toEqual(isOverdue ? [subscription.id] : [])
    expect(await overdueIn(of, 'overdue=false')).toEqual(isOverdue ? [] : [subscription.id])
    expect(await overdueIn(of, 'overdue=true&customer=cus_1Tests')).toEqual(isOverdue ? [subscription.id] : [])
    expect(await overdueIn(of, 'overdue=true&customer=cus_other')).toEqual([])
  })

  it('is overdue until something is received about it, at once', async () => {
    const late = endingAt(ENDED)
    const of = await world(said(late, before))
    await keepHouse()
    const { token } = await addMember(of.project, 'viewer')
    const isFoundOverdue = async () =>
      (await visit(`/console/p/${of.project}/search?q=${late.id}`, token)).text.includes('Active · Overdue</span>')
    expect([await overdueIn(of), await isFoundOverdue()]).toEqual([[late.id], true])
    await of.send(said({ ...endingAt(ENDED + MONTH), id: late.id }, ENDED))
    await of.queue.pump()
    expect([await overdueIn(of), await isFoundOverdue()]).toEqual([[], false])
    setClock(NOON + WALK_HOURS * HOUR)
    await keepHouse()
    expect(await rows('SELECT * FROM overdue_subscriptions WHERE project_id = ?', of.project)).toEqual([])
  })

  it.each([
    ['disabled', { method: 'PATCH', json: { status: 'disabled' } }],
    ['deleted', { method: 'DELETE' }],
  ])('is not overdue if the connection of its vendor is %s', async (_, change) => {
    const of = await world(said(endingAt(ENDED), before))
    await of.api(`/connections/${of.connection.id}`, change)
    await keepHouse()
    expect(await overdueIn(of)).toEqual([])
  })

  it('is looked for every six hours', async () => {
    const late = endingAt(ENDED)
    const of = await world(said(late, before))
    setClock(NOON + HOUR)
    await keepHouse()
    expect(await overdueIn(of)).toEqual([])
    setClock(NOON + WALK_HOURS * HOUR)
    await keepHouse()
    expect(await overdueIn(of)).toEqual([late.id])
  })
})

describe('where renewals are missing', () => {
  /** A project in which so many subscriptions are overdue, and so many have renewed. */
  function mixed(overdue: number, renewed: number, end = ENDED) {
    const late = Array.from({ length: overdue }, () => said(endingAt(end), end - DAY))
    const renewals = Array.from({ length: renewed }, () => said(endingAt(end + MONTH), end))
    return world(...late, ...renewals)
  }

  it.each([
    ['3 of 30', 3, 27, ENDED, true],
    ['3 of 31', 3, 28, ENDED, false],
    ['2 of 2', 2, 0, ENDED, false],
    ['4 of 4, a week ago and longer', 4, 0, NOON - 7 * DAY - SECOND, false],
    ['4 of 4, within a week', 4, 0, NOON - 7 * DAY, true],
  ])('the team is told: %s', async (_, overdue, renewed, end, isTold) => {
    const of = await mixed(overdue, renewed, end)
    await keepHouse()
    const told = await missingIn(of)
    expect(told.map(({ object_id, facts }) => ({ object_id, facts }))).toEqual(
      isTold ? [{ object_id: 'stripe', facts: { vendor: 'stripe', overdue, due: overdue + renewed } }] : [],
    )
    const { reasons } = (await call('/platform/v1/billing/webhooks/health', of)).body
    expect(reasons.filter((reason: string) => reason.includes('overdue')).length).toBe(Number(isTold))
    expect((await overdueIn(of)).length).toBe(overdue)
  })

  it('new subscriptions do not count as renewals', async () => {
    const late = Array.from({ length: 3 }, () => said(endingAt(ENDED), ENDED - DAY))
    const begun = NOON - 2 * DAY
    const fresh = Array.from({ length: 40 }, () => said(endingAt(begun + MONTH, { start_date: seconds(begun) }), begun))
    const of = await world(...late, ...fresh)
    await keepHouse()
    expect((await missingIn(of)).map(({ facts }) => facts)).toEqual([{ vendor: 'stripe', overdue: 3, due: 3 }])
  })

  it('the notice is closed after the walk that finds them', async () => {
    const of = await mixed(3, 0)
    await keepHouse()
    expect(await missingIn(of)).toMatchObject([{ closed_at: null }])
    for (const id of await overdueIn(of)) await of.send(said({ ...endingAt(ENDED + MONTH), id }, ENDED + HOUR))
    await of.queue.pump()
    setClock(NOON + HOUR)
    await keepHouse()
    expect(await missingIn(of)).toMatchObject([{ closed_at: null }])
    setClock(NOON + WALK_HOURS * HOUR)
    await keepHouse()
    expect(await missingIn(of)).toMatchObject([{ closed_at: Date.now() }])
  })
})

describe('with a key of its API, the vendor is asked', () => {
  it.each([
    ['and the renewal is found', true],
    ['and it knows of no renewal', false],
  ])('%s', async (_, hasRenewed) => {
    const late = endingAt(ENDED)
    const now = hasRenewed ? { ...endingAt(ENDED + MONTH), id: late.id } : late
    const of = await doubtWorld([now])
    await of.tell(said(late, ENDED - DAY))
    setClock(NOON)
    await keepHouse(of.bindings)
    await of.pass(SECOND)
    expect((await of.asked()).filter((path) => path === `/v1/subscriptions/${late.id}`)).toHaveLength(1)
    expect(await overdueIn(of)).toEqual(hasRenewed ? [] : [late.id])
    if (hasRenewed) return expect(await of.doubts()).toEqual([])
    // It is asked again three times, and not after each walk.
    for (let i = 0; i < 8; i++) await of.pass(3 * HOUR)
    expect((await of.asked()).length).toBe(4)
    expect(await of.doubts()).toEqual([])
    expect(await overdueIn(of)).toEqual([late.id])
  })
})

describe('a walk', () => {
  /** Subscriptions as rows, without their events. */
  async function seed(project: string, n: number) {
    const late = JSON.stringify([
      {
        event_id: anId('evt'),
        body: { current_period_end: isoOf(seconds(ENDED)), updated_at: isoOf(seconds(ENDED - DAY)) },
      },
    ])
    await STORE.prepare(
      `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, status, version, candidates)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT ?, 'subscription', printf('sub_%06d', i), 'stripe', 'active', 1, ? FROM n`,
    )
      .bind(n, project, late)
      .run()
  }

  it('goes over the subscriptions of all projects in steps, each once, for a bounded number of rows a step', async () => {
    const many = await world()
    const few = await world()
    const n = 2 * WALKED_AT_ONCE
    await seed(many.project, n)
    await seed(few.project, 3)
    const { DB, count } = countingD1()
    const db = openDb<Db>(DB)
    const steps: number[] = []
    let after = ''
    do {
      const before = count.rows_read
      const step = await walkRenewals(db, { store: STORE_NUMBER, after }, NOON)
      steps.push(count.rows_read - before)
      after = step.after ?? ''
    } while (after !== '')
    const found = await rows<{ project_id: string; n: number }>(
      'SELECT project_id, count(*) AS n FROM overdue_subscriptions WHERE project_id IN (?, ?) GROUP BY 1',
      many.project,
      few.project,
    )
    expect(Object.fromEntries(found.map((row) => [row.project_id, row.n]))).toEqual({
      [many.project]: n,
      [few.project]: 3,
    })
    expect(await rows('SELECT due, overdue FROM renewal_counts WHERE project_id = ?', many.project)).toEqual([
      { due: n, overdue: n },
    ])
    expect(Math.max(...steps)).toBeLessThan(9 * WALKED_AT_ONCE)
    // The list pages through all of them.
    let next = ''
    const ids = new Set<string>()
    do {
      const { body } = await call(`/platform/v1/billing/subscriptions?overdue=true&limit=100${next}`, many)
      for (const { id } of body.data) ids.add(id)
      next = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`
    } while (next !== '')
    expect(ids.size).toBe(n)
  })
})
