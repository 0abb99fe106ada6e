import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeInvoice, stripeSubscription } from '../../billing/payloads'
import { insertObjects } from '../../billing/rows'
import { advance, stopClock } from '../../clock'
import { countingD1 } from '../../harness'
import { CUSTOMER, type RefreshWorld, refreshWorld } from './world'

/* What a refresh costs, in D1's own figures. Trips: the credential; who asks, the keys and what is known; the end of the flight. */
const NOTHING_NEW = 3
/** Record, claim, read the objects' rows, finish. */
const WITH_RECORDS = NOTHING_NEW + 4

beforeEach(() => {
  stopClock() // rows that are written once a minute must not be written in between
})

async function costOf({ api }: RefreshWorld, id = CUSTOMER.id) {
  const { DB, count } = countingD1()
  const { status, body } = await api(`/customers/stripe/${id}/refresh`, { method: 'POST', bindings: { DB } })
  expect({ status, state: body.state }).toEqual({ status: 200, state: 'fresh' })
  const { trips, rows_written, rows_read } = count
  return { trips, rows_written, rows_read }
}

async function costAgain(world: RefreshWorld) {
  advance(5 * SECOND)
  return costOf(world)
}

describe('a refresh costs', () => {
  it('three trips and two rows, if nothing is new', async () => {
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription])
    await world.deliver(
      stripeEventOf('customer.subscription.created', subscription),
      stripeEventOf('customer.created', CUSTOMER),
    )
    await costOf(world)
    advance(5 * SECOND)
    const { trips, rows_written, rows_read } = await costOf(world)
    expect({ trips, rows_written }).toEqual({ trips: NOTHING_NEW, rows_written: 2 })
    expect(rows_read).toBeLessThan(60)
  })

  it('no more rows read in a project with many other customers', async () => {
    const world = await refreshWorld([CUSTOMER])
    await costOf(world)
    const before = await costAgain(world)
    await insertObjects(
      world.project,
      'invoice',
      Array.from({ length: 1000 }, (_, i) => `in_other_${i}`),
    )
    expect(await costAgain(world)).toEqual(before)
  })

  it('seven trips with new objects, and some 14 rows each', async () => {
    const subscription = stripeSubscription()
    const invoice = stripeInvoice({ subscription: subscription.id })
    const world = await refreshWorld([CUSTOMER, subscription, invoice])
    const { trips, rows_written } = await costOf(world)
    expect({ trips, rows_written }).toEqual({ trips: WITH_RECORDS, rows_written: 48 })
  })

  it('three trips more for a hundred subscriptions, which are recorded thirty at a time', async () => {
    const subscriptions = Array.from({ length: 100 }, () => stripeSubscription())
    const world = await refreshWorld([CUSTOMER, ...subscriptions])
    const { trips, rows_written } = await costOf(world)
    expect({ trips, rows_written: Math.round(rows_written / 101) }).toEqual({
      trips: WITH_RECORDS + 3,
      rows_written: 16,
    })
  })
})
