import { beforeAll, describe, expect, it } from 'vitest'
import {
  anId,
  type Fields,
  paddleSays,
  paddleSubscription,
  paddleTransaction,
  stripeInvoice,
  stripeItem,
  stripePaymentMethod,
  stripeSays,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List, type Shown } from './world'

/* Which of an object's events speaks for it, whatever order they come in. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

function permutations<T>(list: readonly T[]): T[][] {
  if (list.length < 2) return [[...list]]
  return list.flatMap((one, i) => permutations(list.filter((_, j) => j !== i)).map((rest) => [one, ...rest]))
}

/**
 * Says the same events of a fresh object in every order, one by one and together.
 *
 * @returns what each order ended in, without what tells the objects and events apart
 */
async function inEveryOrder(
  list: List,
  prefix: string,
  events: (id: string, event: (name: string) => string) => object[],
) {
  const ends: (Omit<Shown, 'id' | 'source_event_id'> & { by: number | undefined; order: string })[] = []
  const count = events('', (name) => name).length
  const orders = permutations(Array.from({ length: count }, (_, index) => index))
  for (const [n, order] of orders.entries()) {
    for (const together of [false, true]) {
      const id = anId(prefix)
      // Ids as a test names them keep their order: the last resort of a tie.
      const made = events(id, (name) => `evt_${name}_${id}`)
      const said = order.map((index) => made[index] as object)
      const ids = together ? await world.sayTogether(said) : await world.say(...said)
      const { source_event_id, id: _, ...row } = await world.one(list, id)
      const by = order[ids.indexOf(source_event_id)]
      ends.push({ ...row, by, order: `${order} ${together ? 'together' : 'one by one'}, of ${n}` })
    }
  }
  return ends
}

/** Holds that every order ended in the event at this place speaking for the object, and in these fields. */
async function expectAlways(expected: Fields & { by: number }, ...args: Parameters<typeof inEveryOrder>) {
  for (const end of await inEveryOrder(...args)) expect(end, end.order).toMatchObject({ ambiguous: false, ...expected })
}

const sub = (id: string, fields: Fields = {}) => stripeSubscription({ id, ...fields })
const updated = (object: Fields, options: Parameters<typeof stripeSays>[2] = {}) =>
  stripeSays('customer.subscription.updated', object, options)

describe('a final state does not come back', () => {
  const LATER = '2026-02-01T00:00:00Z'
  const FINALS: [string, List, string, (id: string) => object[], string][] = [
    ...['canceled', 'incomplete_expired'].map((status): (typeof FINALS)[number] => [
      `Stripe's ${status}`,
      'subscriptions',
      'sub',
      (id) => [updated(sub(id)), updated(sub(id, { status }), { at: T0 + 1 }), updated(sub(id), { at: T0 + 9 })],
      status,
    ]),
    ...['paid', 'void'].map((status): (typeof FINALS)[number] => [
      `Stripe's ${status}`,
      'invoices',
      'in',
      (id) => [
        stripeSays('invoice.created', stripeInvoice({ id, status: 'draft' })),
        stripeSays('invoice.updated', stripeInvoice({ id, status }), { at: T0 + 1 }),
        stripeSays('invoice.updated', stripeInvoice({ id, status: 'open' }), { at: T0 + 9 }),
      ],
      status,
    ]),
    [
      "Stripe's deleted draft",
      'invoices',
      'in',
      (id) => [
        stripeSays('invoice.created', stripeInvoice({ id, status: 'draft' })),
        stripeSays('invoice.deleted', stripeInvoice({ id, status: 'draft' }), { at: T0 + 1 }),
        stripeSays('invoice.updated', stripeInvoice({ id, status: 'draft' }), { at: T0 + 9 }),
      ],
      'deleted',
    ],
    [
      "Paddle's canceled subscription",
      'subscriptions',
      'sub',
      (id) => [
        paddleSays('subscription.created', paddleSubscription({ id })),
        paddleSays('subscription.canceled', paddleSubscription({ id, status: 'canceled' }), {
          at: '2026-01-02T00:00:00Z',
        }),
        paddleSays('subscription.updated', paddleSubscription({ id }), { at: LATER }),
      ],
      'canceled',
    ],
    ...[
      ['completed', 'paid'],
      ['canceled', 'void'],
    ].map(([word, status]): (typeof FINALS)[number] => [
      `Paddle's ${word} transaction`,
      'invoices',
      'txn',
      (id) => [
        paddleSays('transaction.ready', paddleTransaction({ id })),
        paddleSays(`transaction.${word}`, paddleTransaction({ id, status: word }), { at: '2026-01-02T00:00:00Z' }),
        paddleSays('transaction.past_due', paddleTransaction({ id, status: 'past_due' }), { at: LATER }),
      ],
      status as string,
    ]),
  ]
  it.each(FINALS)('%s', async (_, list, prefix, events, status) => {
    await expectAlways({ status, by: 1 }, list, prefix, events)
  })

  it('among final ones the later wins', async () => {
    await expectAlways(
      { status: 'canceled', default_payment_method: 'pm_later', by: 1 },
      'subscriptions',
      'sub',
      (id) => [
        stripeSays('customer.subscription.deleted', sub(id, { status: 'canceled' })),
        updated(sub(id, { status: 'canceled', default_payment_method: 'pm_later' }), { at: T0 + 60 }),
        updated(sub(id), { at: T0 + 90 }),
      ],
    )
  })

  it.each(['uncollectible', 'past_due', 'unpaid', 'paused'])('%s is none, and may', async (status) => {
    const invoice = status === 'uncollectible'
    await expectAlways({ by: 1 }, invoice ? 'invoices' : 'subscriptions', 'any', (id) =>
      invoice
        ? [
            stripeSays('invoice.marked_uncollectible', stripeInvoice({ id, status })),
            stripeSays('invoice.updated', stripeInvoice({ id, status: 'open' }), { at: T0 + 1 }),
          ]
        : [updated(sub(id, { status })), updated(sub(id), { at: T0 + 1 })],
    )
  })
})

describe('time', () => {
  const paddle = (id: string, at: unknown, fields: Fields = {}) =>
    paddleSays('subscription.updated', paddleSubscription({ id, ...fields }), { at })
  it.each([
    ['2026-01-01T00:00:00.9Z', '2026-01-01T00:00:00.95Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000001Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.12345679Z'],
    ['2026-01-01T00:00:00.268117Z', '2026-01-01T00:00:00.268118Z'],
    ['2026-01-01T01:59:59+02:00', '2026-01-01T00:00:00Z'],
    ['2025-12-31T23:59:59.999999999Z', '2026-01-01T00:00:00Z'],
    [undefined, '2026-01-01T00:00:00Z'],
    ['tomorrow', '1999-01-01T00:00:00Z'],
    [null, '1999-01-01T00:00:00Z'],
  ])('of Paddle: %s is before %s', async (earlier, later) => {
    await expectAlways({ status: 'paused', by: 1 }, 'subscriptions', 'sub', (id, event) => [
      { ...paddle(id, earlier), event_id: event('z'), occurred_at: earlier },
      { ...paddle(id, later, { status: 'paused' }), event_id: event('a') },
    ])
  })

  it("where Paddle's events are of one time, the entity's own decides", async () => {
    await expectAlways({ status: 'paused', by: 1 }, 'subscriptions', 'sub', (id, event) => [
      { ...paddle(id, T_SAME, { updated_at: '2026-01-01T00:00:00.9Z' }), event_id: event('z') },
      { ...paddle(id, T_SAME, { updated_at: '2026-01-01T00:00:00.95Z', status: 'paused' }), event_id: event('a') },
    ])
  })
  const T_SAME = '2026-01-01T00:00:05.5Z'

  it('of Stripe: without one ranks lowest', async () => {
    await expectAlways({ status: 'past_due', by: 1 }, 'subscriptions', 'sub', (id, event) => [
      updated(sub(id), { at: null, id: event('z') }),
      updated(sub(id, { status: 'past_due' }), { at: 1, id: event('a') }),
    ])
  })

  it('in one second of Stripe: created < updated < deleted', async () => {
    await expectAlways({ status: 'detached', customer: 'cus_1Tests', by: 2 }, 'payment-methods', 'pm', (id, event) => [
      stripeSays('payment_method.attached', stripePaymentMethod({ id }), { id: event('z') }),
      stripeSays('payment_method.updated', stripePaymentMethod({ id, type: 'link' }), { id: event('y') }),
      stripeSays('payment_method.detached', stripePaymentMethod({ id, customer: null }), {
        id: event('a'),
        previous: { customer: 'cus_1Tests' },
      }),
    ])
    await expectAlways({ status: 'past_due', by: 1 }, 'subscriptions', 'sub', (id, event) => [
      stripeSays('customer.subscription.created', sub(id), { id: event('z') }),
      updated(sub(id, { status: 'past_due' }), { id: event('a') }),
    ])
  })
})

describe('updates of one second', () => {
  const items = (...prices: string[]) => ({ object: 'list', data: prices.map((id) => stripeItem({ price: { id } })) })
  /** States one after the other, with what the event of each lists of the state before. */
  const CHAINS: [string, Fields[], Fields[]][] = [
    [
      'a field',
      [{ status: 'active' }, { status: 'past_due' }, { status: 'unpaid' }],
      [{ status: 'active' }, { status: 'past_due' }],
    ],
    [
      'nested metadata, added to and taken from',
      [{ metadata: { a: '1', k: '0' } }, { metadata: { a: '1', b: '2', k: '0' } }, { metadata: { b: '3', k: '0' } }],
      [{ metadata: { b: null } }, { metadata: { a: '1', b: '2' } }],
    ],
    [
      'arrays of items, put back whole',
      [{ items: items('p1') }, { items: items('p1', 'p2') }, { items: items('p2') }],
      [{ items: { data: items('p1').data } }, { items: { data: items('p1', 'p2').data } }],
    ],
    [
      'an object that was null',
      [{ pause_collection: null }, { pause_collection: { behavior: 'void' } }, { pause_collection: null, quantity: 3 }],
      [{ pause_collection: null }, { pause_collection: { behavior: 'void' }, quantity: null }],
    ],
  ]
  const events =
    (states: Fields[], previous: Fields[], anchored: boolean) => (id: string, event: (name: string) => string) =>
      states.flatMap((state, step) => {
        const name = 'zyxw'[step] as string // the ids fall: the last resort would be wrong
        if (step > 0) return [updated(sub(id, state), { id: event(name), previous: previous[step - 1] as Fields })]
        return anchored ? [updated(sub(id, state), { id: event(name), at: T0 - 1 })] : []
      })

  it.each(CHAINS)('are chained by what they replaced: %s', async (_, states, previous) => {
    await expectAlways({ by: 2 }, 'subscriptions', 'sub', events(states, previous, true))
    await expectAlways({ by: 1 }, 'subscriptions', 'sub', events(states, previous, false))
  })

  const REVERT: [Fields[], Fields[]] = [
    [{ status: 'active' }, { status: 'past_due' }, { status: 'active' }],
    [{ status: 'active' }, { status: 'past_due' }],
  ]
  it('that come back to the state before are anchored by the event before', async () => {
    await expectAlways({ status: 'active', by: 2 }, 'subscriptions', 'sub', events(...REVERT, true))
  })

  it('without a word of what was before are placed where another one needs them', async () => {
    await expectAlways({ status: 'paused', by: 2 }, 'subscriptions', 'sub', (id, event) => [
      updated(sub(id), { id: event('a'), at: T0 - 1 }),
      updated(sub(id, { status: 'unpaid' }), { id: event('c') }),
      updated(sub(id, { status: 'paused' }), { id: event('b'), previous: { status: 'unpaid' } }),
    ])
  })

  it('of the same snapshot are no ambiguity', async () => {
    await expectAlways({ status: 'past_due', by: 1 }, 'subscriptions', 'sub', (id, event) => [
      updated(sub(id, { status: 'past_due' }), { id: event('a') }),
      updated(sub(id, { status: 'past_due' }), { id: event('b') }),
    ])
  })

  const UNDECIDED: [string, (id: string, event: (name: string) => string) => object[]][] = [
    [
      'say nothing of what was before',
      (id, event) => [updated(sub(id), { id: event('a') }), updated(sub(id, { status: 'unpaid' }), { id: event('b') })],
    ],
    [
      'replace the same state',
      (id, event) =>
        ['unpaid', 'past_due'].map((status, i) =>
          updated(sub(id, { status }), { id: event('ab'[i] as string), previous: { status: 'active' } }),
        ),
    ],
    ['come back to a state that no event before tells', events(...REVERT, false)],
    [
      'may have come back without a word of what was before',
      (id, event) => [
        updated(sub(id), { id: event('a'), at: T0 - 1 }),
        updated(sub(id, { status: 'unpaid' }), { id: event('c'), previous: { status: 'active' } }),
        updated(sub(id), { id: event('b') }),
      ],
    ],
    [
      "are Paddle's, of one time to the digit",
      (id, event) =>
        ['paused', 'active'].map((status, i) =>
          paddleSays('subscription.updated', paddleSubscription({ id, status }), { id: event('ab'[i] as string) }),
        ),
    ],
  ]
  it.each(UNDECIDED)('that %s are ambiguous: one by a fixed order, and said', async (_, events) => {
    const ends = await inEveryOrder('subscriptions', 'sub', events)
    for (const end of ends)
      expect(end, end.order).toMatchObject({ ambiguous: true, by: ends[0]?.by, status: ends[0]?.status })
  })

  it('that stay undecided are said in the effects and in health, until a later event decides', async () => {
    const own = await billingWorld()
    const undecided = async () => (await own.api('/webhooks/health')).body.ambiguous_objects
    const ids = [anId('sub'), anId('sub')]
    for (const id of ids) {
      const [a, b] = (await own.say(
        updated(sub(id), { id: `evt_a${id}` }),
        updated(sub(id, { status: 'unpaid' }), { id: `evt_b${id}` }),
      )) as [string, string]
      expect((await own.effects(a))[0]).toMatchObject({ result: 'applied' })
      expect((await own.effects(b))[0]).toEqual({
        kind: 'subscription',
        id,
        result: 'ambiguous',
        change: { status: { from: 'active', to: 'unpaid' }, vendor_status: { from: 'active', to: 'unpaid' } },
      })
      expect(await own.one('subscriptions', id)).toMatchObject({ ambiguous: true, source_event_id: b })
    }
    expect(await undecided()).toBe(2)
    // A third of the same second that comes after the first by what it replaced leaves the second one loose.
    await own.say(updated(sub(ids[0] as string, { status: 'paused' }), { previous: { status: 'active' } }))
    expect(await undecided()).toBe(2)
    for (const [index, id] of ids.entries()) {
      const [later] = (await own.say(updated(sub(id), { at: T0 + 1 }))) as [string]
      expect(await own.one('subscriptions', id)).toMatchObject({ ambiguous: false, source_event_id: later })
      expect((await own.effects(later))[0]).toMatchObject({ result: 'applied' })
      expect(await undecided()).toBe(1 - index)
    }
  })
})
