import { vi } from 'vitest'
import { revenuecatEvent, revenuecatSubscription } from '../../billing/payloads-fetched'
import { at, type Fields } from '../../billing/payloads-more'
import type { SignedVendor } from '../../billing/signed'
import { vendorWorld } from '../../billing/vendor-world'
import type { Shown } from '../../billing/world'
import { type AccountSettings, changeAccount, newRevenuecatAccount, newRevenuecatKey, seenBy } from '../../harness'
import { rows } from '../pipeline'
import { holding, setKey } from '../refresh/world'
import { bothQueues } from './world'

type Held = Fields & { id: string }
type Said = { list: 'subscriptions' | 'invoices'; fields: Fields }

/** A vendor whose events only name their objects, as these tests need it. */
export type ByFetch = {
  vendor: SignedVendor
  newKey: () => string
  open: (settings: AccountSettings, key: string) => Promise<string>
  /** Of the connection. */
  connection: { customer_is_external_id?: boolean }
  consumer: string
  /** The price that the tests' subscription is of, and how many of it. */
  ref: string
  seats: number
  /** The subscription, as it has been since this day. */
  subscription: (day: number, fields?: Fields) => Held
  /** An event about an object. `id`: of the event. */
  event: (object: Held, what: string, day: number, id?: string) => Fields
  /** The path that is asked for the subscription. */
  path: string
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
  newKey: newRevenuecatKey,
  open: newRevenuecatAccount,
  connection: {},
  consumer: 'user_revenuecat',
  ref: 'prodrc1',
  seats: 1,
  subscription: revenuecatSubscription,
  event: revenuecatEvent,
  path: '/v2/projects/{project}/customers/user_revenuecat/subscriptions',
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
    ['one in a state that nobody knows', ...rc({ status: 'unknown' }, { status: 'unknown' })],
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

export const BY_FETCH: ByFetch[] = [revenuecat]

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
  const apiKey = of.newKey()
  /** The vendor's clock shows what ours does. */
  const date_skew_s = () => (Date.now() - vi.getRealSystemTime()) / 1000
  await of.open({ ...settings, objects, date_skew_s: date_skew_s() }, apiKey)
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
