import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Fields,
  paddleEventOf,
  paddleSubscription,
  type Shape,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
} from '../../billing/payloads'
import { stopClock } from '../../clock'
import { formatWorld } from './world'

beforeEach(() => {
  stopClock()
})

const [OLD, NEW] = ['2020-03-02', '2026-03-25.dahlia'] as const
const subscription = (fields: Fields = {}, shape: Shape = NEW) =>
  stripeEventOf('customer.subscription.updated', stripeSubscription(fields, shape), { shape })
const invoice = (fields: Fields = {}, shape: Shape = NEW) =>
  stripeEventOf('invoice.updated', stripeInvoice(fields, shape), { shape })
const times = <T>(n: number, make: (at: number) => T) => Array.from({ length: n }, (_, at) => make(at))

describe('events of before and after 2025-03-31', () => {
  it('lack nothing of which the new place is read, and exactly what no place has any more', async () => {
    const world = await formatWorld()
    await world.counted(...times(50, () => subscription({}, OLD)), ...times(50, () => invoice({}, OLD)))
    expect((await world.formats()).findings).toEqual([])
    await world.counted(...times(20, () => subscription()), ...times(20, () => invoice()))
    // The period is on the items now, and the subscription of an invoice below its parent.
    const { versions } = await world.formats()
    const shares = versions.map(({ api_version, kinds }: { api_version: string; kinds: { fields: object }[] }) => [
      api_version,
      ...kinds.map(({ fields }) => fields),
    ])
    expect(shares).toMatchObject([
      [NEW, { current_period_start: 1, current_period_end: 1, 'items.current_period_end': 1 }, { subscription: 1 }],
      [OLD, { current_period_start: 1, current_period_end: 1, 'items.current_period_end': 0 }, { subscription: 1 }],
    ])
    // The payment of an invoice is in a list of its own now, which its events do not have.
    expect(await world.found('field_vanished')).toEqual(['invoice.payment_intent'])
    expect(await world.found('new_version')).toEqual(['null.null'])
  })

  it('lack a field that has moved to where nobody looks', async () => {
    const world = await formatWorld()
    await world.counted(...times(50, () => subscription({ latest_invoice: 'in_1' }, OLD)))
    const { latest_invoice: _, ...moved } = stripeSubscription()
    const ids = await world.counted(
      ...times(20, () =>
        stripeEventOf('customer.subscription.updated', { ...moved, billing: { latest_invoice: 'in_1' } }),
      ),
    )
    const { findings, versions } = await world.formats()
    expect(findings).toEqual([
      {
        code: 'new_version',
        message: `The vendor now sends version ${NEW}. Before, it sent version ${OLD}.`,
        ...{ api_version: NEW, kind: null, field: null, word: null, states: 20 },
        before: { api_version: OLD, week: null, states: 50, share: null },
      },
      {
        code: 'field_vanished',
        message: `latest_invoice of subscriptions has vanished: 50 of 50 had it in version ${OLD}, and none of 20 in version ${NEW}.`,
        ...{ api_version: NEW, kind: 'subscription', field: 'latest_invoice', word: null, states: 20 },
        before: { api_version: OLD, week: null, states: 50, share: 1 },
      },
    ])
    expect(versions[0]).toMatchObject({ api_version: NEW, states: 20 })
    expect(ids).toContain(versions[0].kinds[0].last_event_id)
  })
})

describe('a field has vanished', () => {
  it('if nine tenths of fifty states had it, and none of twenty has: with one state less on either side it has not', async () => {
    const world = await formatWorld()
    // Of 50: 45, 44, and 50 have a value. Of the invoices there are only 49.
    const before = times(50, (at) =>
      subscription(
        {
          description: at < 45 ? 'Chat' : null,
          schedule: at < 44 ? 'sub_sched_1' : null,
          latest_invoice: 'in_1',
          default_payment_method: null,
        },
        OLD,
      ),
    )
    await world.counted(...before, ...times(49, () => invoice({ description: 'January' }, OLD)))
    const after = (at: number) =>
      subscription({
        ...{ description: null, schedule: null, default_payment_method: null },
        latest_invoice: at === 0 ? 'in_1' : null,
      })
    await world.counted(...times(19, after), ...times(20, () => invoice()))
    expect(await world.found('field_vanished')).toEqual([])
    expect(await world.notices()).toEqual([])
    await world.counted(after(19))
    expect(await world.found('field_vanished')).toEqual(['subscription.description'])
    await world.counted(invoice({ description: 'January' }, OLD))
    expect(await world.found('field_vanished')).toEqual([
      'subscription.description',
      'invoice.description',
      'invoice.payment_intent',
    ])
    // One state with it ends that.
    await world.counted(subscription({ description: 'Chat' }))
    expect(await world.found('field_vanished')).toEqual(['invoice.description', 'invoice.payment_intent'])
  })

  it('if a vendor that names no version leaves it out from one week to the next', async () => {
    const world = await formatWorld()
    stopClock(Date.parse('2026-11-27T12:00:00Z'))
    const told = (fields: Fields) => paddleEventOf('subscription.updated', paddleSubscription(fields))
    await world.counted(...times(50, () => told({ next_billed_at: '2026-12-01T00:00:00Z' })))
    await world.counted(...times(30, () => told({ next_billed_at: null })))
    expect(await world.found('field_vanished', world.paddle)).toEqual([]) // the same week
    stopClock(Date.parse('2026-11-30T12:00:00Z'))
    await world.counted(...times(19, () => told({ next_billed_at: null })))
    expect(await world.found('field_vanished', world.paddle)).toEqual([])
    await world.counted(told({ next_billed_at: null }))
    expect(await world.found('field_vanished', world.paddle)).toEqual([]) // 50 of 80 had it
    stopClock(Date.parse('2026-12-07T12:00:00Z'))
    await world.counted(...times(50, () => told({})))
    stopClock(Date.parse('2026-12-14T12:00:00Z'))
    await world.counted(...times(20, () => told({ next_billed_at: null })))
    const { findings, versions } = await world.formats(world.paddle)
    expect(findings).toMatchObject([
      {
        code: 'field_vanished',
        message:
          'next_billed_at of subscriptions has vanished: 50 of 50 had it in the week of 2026-12-07, and none of 20 in the week of 2026-12-14.',
        api_version: null,
        before: { api_version: null, week: '2026-12-07', share: 1 },
      },
    ])
    expect(versions).toMatchObject([{ api_version: null, first_week: '2026-11-23', last_week: '2026-12-14' }])
    // A new week with few events does not end it.
    stopClock(Date.parse('2026-12-21T12:00:00Z'))
    await world.counted(told({ next_billed_at: null }))
    expect(await world.found('field_vanished', world.paddle)).toEqual(['subscription.next_billed_at'])
    expect(await world.found('field_vanished')).toEqual([]) // nothing of Stripe
  })
})

describe('a word that nobody knows', () => {
  it('is named with the states that had it, as a status and as an interval', async () => {
    const world = await formatWorld()
    const item = (interval: string) => ({
      data: [{ id: 'si_1', price: { id: 'price_1', recurring: { interval, interval_count: 1 } }, quantity: 1 }],
    })
    await world.counted(
      subscription({ status: 'hibernating', items: item('month') }),
      subscription({ status: 'hibernating', items: item('fortnight') }),
      subscription({ status: 'active', items: item('year') }),
      invoice({ status: 'draft' }),
    )
    expect((await world.formats()).findings).toMatchObject([
      {
        code: 'word_unknown',
        message: 'The status “hibernating” of subscriptions is unknown. In recent weeks, 2 objects had it.',
        ...{ kind: 'subscription', field: 'status', word: 'hibernating', states: 2, api_version: NEW, before: null },
      },
      { code: 'word_unknown', field: 'interval', word: 'fortnight', states: 1 },
    ])
    expect(await world.reasons()).toEqual([])
    expect((await world.notices()).map(({ facts }) => JSON.parse(facts))).toMatchObject([
      {
        unknown: 2,
        words: 'subscription status hibernating, subscription interval fortnight',
        vanished: 0,
        fields: '',
      },
    ])
  })

  it('is cut to forty characters, and twenty of a connection are kept: those of the most states', async () => {
    const world = await formatWorld()
    const long = `${'😀'.repeat(60)}`
    await world.counted(subscription({ status: long }), subscription({ status: 'a\u202eb\u0000\nc' }))
    expect((await world.found('word_unknown')).sort()).toEqual(['a b c', '😀'.repeat(40)])
    const many = times(25, (at) => times(at === 24 ? 3 : 2, () => subscription({ status: `word ${at}` }))).flat()
    await world.counted(...many.slice(0, 30))
    await world.counted(...many.slice(30))
    const [row] = await world.stored()
    expect(Object.keys(JSON.parse(row?.words ?? '{}'))).toHaveLength(20)
    const words = await world.found('word_unknown')
    expect(words).toHaveLength(20)
    expect(words[0]).toBe('word 24')
    expect(await world.notices()).toHaveLength(1)
  })

  it('is no value of a field: `__proto__` and `constructor` are words as others', async () => {
    const world = await formatWorld()
    await world.counted(...['__proto__', 'constructor', 'toString'].map((status) => subscription({ status })))
    expect((await world.found('word_unknown')).sort()).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.keys(JSON.parse((await world.stored())[0]?.fields ?? '{}'))).not.toContain('status')
  })
})

it('payment methods are counted with the parts of their card', async () => {
  const world = await formatWorld()
  await world.counted(
    stripeEventOf('payment_method.attached', stripePaymentMethod()),
    stripeEventOf('payment_method.attached', stripePaymentMethod({ type: 'sepa_debit', card: null })),
  )
  const { versions } = await world.formats()
  expect(versions[0].kinds).toMatchObject([
    { kind: 'payment_method', states: 2, fields: { type: 1, 'card.last4': 0.5, 'billing_details.address.country': 1 } },
  ])
  expect(versions[0].kinds[0].fields).not.toHaveProperty('wallet')
})
