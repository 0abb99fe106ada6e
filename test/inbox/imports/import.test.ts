import { beforeEach, describe, expect, it } from 'vitest'
import { paddleObjects, stripeObjects } from '../../harness'
import { rows, stopClock } from '../pipeline'
import { brief, importWorld } from './world'

beforeEach(() => {
  stopClock()
})

const counts = (project: string) =>
  rows(
    'SELECT kind, status, count(*) AS n FROM billing_objects WHERE project_id = ? GROUP BY 1, 2 ORDER BY 1, 2',
    project,
  )

describe('an account of Stripe with 300 customers', () => {
  it('ends in the right rows, and a second import records nothing', async () => {
    const world = await importWorld(stripeObjects(300, Math.floor(Date.now() / 1000) - 86_400))
    const id = await world.start()
    const done = await world.finish(id)
    expect(done).toMatchObject({ id, state: 'done', error: null, waiting_until: null, continues: null })
    const all = 'done 300 300 0'
    expect(brief(done)).toEqual({ customers: all, subscriptions: all, invoices: all })
    expect(await counts(world.project)).toEqual([
      { kind: 'customer', status: 'active', n: 300 },
      { kind: 'invoice', status: 'paid', n: 300 },
      { kind: 'subscription', status: 'active', n: 270 },
      { kind: 'subscription', status: 'canceled', n: 30 },
    ])
    const before = await rows('SELECT * FROM billing_objects WHERE project_id = ? ORDER BY 1, 2, 3, 4', world.project)
    const again = await world.finish(await world.start())
    const none = 'done 300 0 300'
    expect(brief(again)).toEqual({ customers: none, subscriptions: none, invoices: none })
    expect(await world.fetched()).toHaveLength(900)
    expect(await rows('SELECT * FROM billing_objects WHERE project_id = ? ORDER BY 1, 2, 3, 4', world.project)).toEqual(
      before,
    )
    expect(await world.asked()).toHaveLength(18)
  })
})

describe('an account of Paddle with 300 customers', () => {
  it('ends in the right rows, and a second import records nothing', async () => {
    const world = await importWorld(paddleObjects(300, Date.now() - 86_400_000), { vendor: 'paddle' })
    const done = await world.finish(await world.start())
    const all = 'done 300 300 0'
    expect(brief(done)).toEqual({ customers: all, subscriptions: all, invoices: all })
    expect(await counts(world.project)).toEqual([
      { kind: 'customer', status: 'active', n: 300 },
      { kind: 'invoice', status: 'paid', n: 300 },
      { kind: 'subscription', status: 'active', n: 300 },
    ])
    const again = await world.finish(await world.start())
    const none = 'done 300 0 300'
    expect(brief(again)).toEqual({ customers: none, subscriptions: none, invoices: none })
    expect(await world.fetched()).toHaveLength(900)
  })
})
