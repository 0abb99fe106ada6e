import { vi } from 'vitest'
import {
  GOCARDLESS_CUSTOMER,
  GOCARDLESS_MANDATE,
  gocardlessEvent,
  gocardlessPayment,
  gocardlessSubscription,
  revenuecatEvent,
  revenuecatSubscription,
} from '../../billing/payloads-fetched'
import { at, day, type Fields } from '../../billing/payloads-more'
import type { SignedVendor } from '../../billing/signed'
import { vendorWorld } from '../../billing/vendor-world'
import type { Shown } from '../../billing/world'
import {
  type AccountSettings,
  changeAccount,
  newGocardlessAccount,
  newGocardlessKey,
  newRevenuecatAccount,
  newRevenuecatKey,
  seenBy,
} from '../../harness'
import { rows } from '../pipeline'
import { holding, setKey } from '../refresh/world'
import { bothQueues } from './world'

type Held = Fields & { id: string }
type Said = { list: 'subscriptions' | 'invoices'; fields: Fields }

/** A vendor whose events only name their objects, as these tests need it. */
export type ByFetch = {
  vendor: SignedVendor
  newKey: (livemode: boolean) => string
  open: (settings: AccountSettings, key: string) => Promise<string>
  /** Of the connection. */
  connection: { customer_is_external_id?: boolean }
  consumer: string
  /** The vendor's id of the customer. */
  customer: string
  /** What the account holds beside the subscription. */
  others: Held[]
  /** The price that the tests' subscription is of, and how many of it. */
  ref: string
  seats: number
  /** The subscription, as it has been since this day. */
  subscription: (day: number, fields?: Fields) => Held
  /** An event about an object. `id`: of the event. */
  event: (object: Held, what: string, day: number, id?: string) => Fields
  /** The paths that are asked for the subscription. */
  paths: string[]
  /** How many objects a refresh of the customer reads. */
  refreshed: number
  /** The objects that `refused` names. */
  reads: string
  /** What objects become. */
  lines: [name: string, object: Held, said: Said][]
  /** What the service adds to an object that it fetches. */
  adds?: Fields
  /** What the vendor says of a subscription in test mode, where it says so. */
  test?: Fields
  /** States of the subscription, in the order in which it has them. */
  states: Fields[]
  /** The life of the subscription: what the vendor says of it from this day on, and what its consumer may do; null if nothing has changed. */
  story: [day: number, state: Fields | null, reason: string][]
}

const ms = (day: number) => Date.parse(at(day))
const period = (from: number, to: number) => ({
  current_period_starts_at: ms(from),
  current_period_ends_at: ms(to),
  ends_at: ms(to),
})
const rc = (fields: Fields, said: Fields): [Held, Said] => [
  revenuecatSubscription(1, fields),
  { list: 'subscriptions', fields: said },
]

const revenuecat: ByFetch = {
  vendor: 'revenuecat',
  newKey: () => newRevenuecatKey(),
  open: newRevenuecatAccount,
  connection: {},
  consumer: 'user_revenuecat',
  customer: 'user_revenuecat',
  others: [],
  ref: 'prodrc1',
  seats: 1,
  subscription: revenuecatSubscription,
  event: revenuecatEvent,
  paths: ['/v2/projects/{project}/customers/user_revenuecat/subscriptions'],
  refreshed: 1,
  reads: 'subscriptions',
  adds: { app_user_id: 'user_revenuecat' },
  test: { environment: 'sandbox' },
  lines: [
    [
      'a subscription',
      ...rc(
        {},
        {
          status: 'active',
          customer: 'user_revenuecat',
          items: [{ price: 'prodrc1', variant: 'com.example.pro', product: 'pro', quantity: 1 }],
          current_period_end: '2026-01-31T00:00:00.000Z',
          cancel_at: null,
        },
      ),
    ],
    ['one on trial', ...rc({ status: 'trialing' }, { status: 'trialing', trial_end: '2026-01-31T00:00:00.000Z' })],
    [
      'one that will end',
      ...rc(
        { auto_renewal_status: 'will_not_renew' },
        { status: 'active', cancel_at: '2026-01-31T00:00:00.000Z', cancel_at_period_end: true },
      ),
    ],
    ['one in its grace period', ...rc({ status: 'in_grace_period' }, { status: 'past_due' })],
    ['one that the store tries to bill', ...rc({ status: 'in_billing_retry' }, { status: 'unpaid' })],
    [
      'one that is paused',
      ...rc({ status: 'paused', current_period_ends_at: null, ends_at: null }, { status: 'paused' }),
    ],
    ['one that is incomplete', ...rc({ status: 'incomplete' }, { status: 'incomplete' })],
    [
      'one that has expired',
      ...rc({ status: 'expired' }, { status: 'canceled', ended_at: '2026-01-31T00:00:00.000Z' }),
    ],
    ['one in an unknown state', ...rc({ status: 'unknown' }, { status: 'unknown' })],
    [
      'one that was granted, and has no product',
      ...rc(
        { product_id: null, store: 'promotional' },
        { status: 'active', items: [{ price: null, variant: null, product: 'pro', quantity: 1 }] },
      ),
    ],
  ],
  states: [
    { status: 'trialing', ...period(0, 14) },
    period(14, 44),
    { status: 'in_grace_period', ...period(14, 44) },
    { ...period(44, 74), auto_renewal_status: 'will_not_renew' },
  ],
  story: [
    [0, { status: 'trialing', ...period(0, 14) }, 'plan'],
    [17, null, 'expired'], // the event is late
    [17, period(14, 44), 'plan'],
    [45, { status: 'in_grace_period', ...period(14, 44) }, 'plan'],
    [53, null, 'past_due'],
    [54, { status: 'in_billing_retry', ...period(14, 44) }, 'past_due'],
    [55, period(55, 85), 'plan'],
    [60, { ...period(55, 85), auto_renewal_status: 'will_not_renew' }, 'plan'],
    [85, null, 'expired'],
    [86, { status: 'expired', auto_renewal_status: 'will_not_renew', ...period(55, 85) }, 'expired'],
    // It is bought again.
    [90, period(90, 120), 'plan'],
  ],
}

const gc = (fields: Fields, said: Fields): [Held, Said] => [
  gocardlessSubscription(1, fields),
  { list: 'subscriptions', fields: said },
]
const payment = (status: string, said: Fields): [string, Held, Said] => [
  `a payment that is ${status}`,
  gocardlessPayment({ status }),
  { list: 'invoices', fields: { vendor_status: status, customer: 'CU0001', total: 1900, currency: 'GBP', ...said } },
]
const year = { status: 'finished', count: 12, upcoming_payments: [] }

const gocardless: ByFetch = {
  vendor: 'gocardless',
  newKey: (livemode) => newGocardlessKey(livemode ? 'live' : 'sandbox'),
  open: newGocardlessAccount,
  connection: {},
  consumer: 'user_gocardless',
  customer: 'CU0001',
  others: [GOCARDLESS_MANDATE, GOCARDLESS_CUSTOMER],
  ref: 'price_gc',
  seats: 3,
  subscription: gocardlessSubscription,
  event: (object, what, day, id) => ({
    events: [gocardlessEvent(object, object.id.startsWith('PM') ? 'confirmed' : what, day, id)],
  }),
  paths: ['/subscriptions/SB0003JJQ2MR06', '/mandates/MD000AMA19XGEC'],
  refreshed: 2,
  reads: 'subscriptions',
  adds: { customer: 'CU0001' },
  lines: [
    [
      'a subscription',
      ...gc(
        {},
        {
          status: 'active',
          customer: 'CU0001',
          items: [
            {
              price: 'price_gc',
              price_name: 'Pro',
              product: null,
              quantity: 3,
              amount: null,
              currency: 'GBP',
              interval: 'month',
              interval_count: 1,
            },
          ],
          started_at: '2026-01-01T00:00:00Z',
          next_billed_at: '2026-02-01T00:00:00Z',
          current_period_end: null,
          cancel_at: null,
          default_payment_method: 'MD000AMA19XGEC',
        },
      ),
    ],
    [
      'one of a single unit',
      ...gc(
        { metadata: { product_id: 'prod_gc' }, interval_unit: 'yearly', interval: 2 },
        {
          items: [{ price: null, product: 'prod_gc', quantity: 1, amount: 1900, interval: 'year', interval_count: 2 }],
        },
      ),
    ],
    ['one without metadata', ...gc({ metadata: {} }, { items: [{ price: null, quantity: 1, price_name: 'Pro' }] })],
    ['one that waits for approval', ...gc({ status: 'pending_customer_approval' }, { status: 'incomplete' })],
    ['one that was not approved', ...gc({ status: 'customer_approval_denied' }, { status: 'incomplete_expired' })],
    [
      'one that is paused',
      ...gc({ status: 'paused', upcoming_payments: [] }, { status: 'paused', next_billed_at: null }),
    ],
    ['one that was canceled', ...gc({ status: 'cancelled', upcoming_payments: [] }, { status: 'canceled' })],
    ['one with all its payments', ...gc(year, { status: 'active', cancel_at: '2027-01-01T00:00:00.000Z' })],
    ['a weekly one', ...gc({ ...year, interval_unit: 'weekly' }, { cancel_at: '2026-03-26T00:00:00.000Z' })],
    ['one with an end', ...gc({ ...year, end_date: day(60) }, { status: 'active', cancel_at: '2026-03-02T00:00:00Z' })],
    ['a finished one without an end', ...gc({ ...year, count: null }, { status: 'canceled', cancel_at: null })],
    ['one in an unknown state', ...gc({ status: 'other' }, { status: 'unknown' })],
    payment('pending_customer_approval', { status: 'open' }),
    payment('pending_submission', {
      status: 'open',
      subscription: 'SB0003JJQ2MR06',
      number: 'ACME-1',
      due_at: '2026-01-04T00:00:00Z',
      amount_due: 1900,
      amount_paid: 0,
      amount_remaining: 1900,
    }),
    payment('submitted', { status: 'open' }),
    payment('confirmed', { status: 'paid', amount_paid: 1900, amount_remaining: 0 }),
    payment('paid_out', { status: 'paid' }),
    payment('cancelled', { status: 'void', amount_paid: 0, amount_remaining: 0 }),
    payment('customer_approval_denied', { status: 'void' }),
    payment('failed', { status: 'uncollectible', amount_paid: 0, amount_remaining: 1900 }),
    payment('charged_back', { status: 'uncollectible', amount_paid: 0 }),
    payment('other', { status: 'unknown', amount_paid: null }),
  ],
  states: [
    { status: 'pending_customer_approval' },
    {},
    { status: 'paused', upcoming_payments: [] },
    { metadata: { price_id: 'price_other' } },
  ],
  story: [
    [0, { status: 'pending_customer_approval' }, 'past_due'],
    [2, {}, 'plan'],
    [40, { upcoming_payments: [{ charge_date: day(62), amount: 1900 }] }, 'plan'],
    [50, { status: 'paused', upcoming_payments: [] }, 'expired'],
    [60, { count: 4 }, 'plan'],
    // The last payment is made, and pays for a month.
    [92, { count: 4, status: 'finished', upcoming_payments: [] }, 'plan'],
    [119, null, 'plan'],
    [121, null, 'expired'],
    [122, { status: 'cancelled', upcoming_payments: [] }, 'expired'],
  ],
}

export const BY_FETCH: ByFetch[] = [revenuecat, gocardless]

/** A project with a connection of such a vendor, which has the API key of an account that holds these objects. */
export async function byFetchWorld(
  of: ByFetch,
  objects: readonly Held[] = [],
  {
    key = true,
    livemode = true,
    ...settings
  }: Omit<AccountSettings, 'objects'> & { key?: boolean; livemode?: boolean } = {},
) {
  const world = await vendorWorld(of.vendor, { livemode, ...of.connection })
  const queues = bothQueues(world)
  const apiKey = of.newKey(livemode)
  /** The vendor's clock shows what ours does. */
  const date_skew_s = () => (Date.now() - vi.getRealSystemTime()) / 1000
  await of.open({ ...settings, objects: [...of.others, ...objects], date_skew_s: date_skew_s() }, apiKey)
  if (key) await setKey(world, world.connection.id, apiKey)
  return {
    ...world,
    ...queues,
    apiKey,
    /** Delivers events one after the other, then processes them together. @returns their ids */
    deliver: async (...payloads: unknown[]): Promise<string[]> => {
      const ids: string[] = []
      for (const payload of payloads) ids.push(...(await world.ingest(payload)))
      await queues.pump()
      return ids
    },
    /** What the account holds from now on. */
    change: (...held: Held[]) => changeAccount(apiKey, { objects: holding(held), date_skew_s: date_skew_s() }),
    /** An object as the API answers it, with the vendor's own. */
    shown: async (list: Said['list'], id: string) =>
      (await world.api<Shown>(`/${list}/${id}?include=vendor_object`)).body,
    /** The paths that the account was asked for, without those that tried the key. */
    asked: async () =>
      (await seenBy(apiKey))
        .map(({ url }) => new URL(url))
        .flatMap(({ search, pathname }) => (search === '?limit=1' ? [] : [pathname])),
    fetched: () =>
      rows<{ id: string }>("SELECT id FROM events WHERE project_id = ? AND id >= 'ftc' ORDER BY id", world.project),
  }
}
export type ByFetchWorld = Awaited<ReturnType<typeof byFetchWorld>>
