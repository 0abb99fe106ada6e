import { stripeObjects } from '../../test/outside/accounts.ts'
import { openStandIn } from './stand-in.ts'
import { printTable, sleep } from './terminal.ts'

/** How the demo tells what it does. `expect` throws if something does not hold. */
export type Tell = {
  step: (text: string) => void
  say: (text: string) => void
  expect: (holds: boolean, what: string) => void
}

type Import = {
  id: string
  state: string
  kinds: Record<string, { state: string; seen: number; recorded: number; unchanged: number }>
}
type Consumer = { id: string; customers: { vendor: string; id: string }[] }
type Checked = { data: { features: { seats: { allowed: boolean; value: unknown } } }[] }

const CUSTOMERS = 300
const IMPORT_WITHIN = 120_000

/**
 * A company that has subscriptions already adopts the product: a project that has never had an event imports the account of its vendor.
 *
 * The hosts of vendors are constants of the product. So this runs in a Worker of its own, whose fetches a stand-in for Stripe answers.
 */
export async function adopt({ step, say, expect }: Tell): Promise<void> {
  step(
    `Adopting the product with ${CUSTOMERS} customers at Stripe. This runs in a second server with an empty database.`,
  )
  say('The real Stripe is not called: a stand-in on this machine answers in its place, with a generated account.')
  const standIn = await openStandIn()
  try {
    const { call } = await standIn.newProject('Adopted')
    const connection = await standIn.connectStripe(call, account())
    say('The connection has a read-only API key, and has never received an event.')
    const found = await imported(call, connection)
    printTable(
      ['kind', 'state', 'read', 'new', 'known before'],
      Object.entries(found.kinds).map(([kind, { state, seen, recorded, unchanged }]) =>
        [kind, state, seen, recorded, unchanged].map(String),
      ),
    )
    expect(found.state === 'done', 'the import is done')
    expect(found.kinds.subscriptions?.recorded === CUSTOMERS, `it has recorded ${CUSTOMERS} subscriptions`)

    step('Asking what a long-standing customer may do, by the ID that the company’s own systems use.')
    const consumer = `ext:${nameOf(7)}`
    await call(`consumers/${consumer}`, { method: 'PUT', json: { name: 'Ada Lovelace' } })
    const { customers } = await call<Consumer>(`consumers/${consumer}`)
    expect(
      customers[0]?.id === 'cus_000007',
      `the import has linked Stripe’s customer ${customers[0]?.id} to ${consumer}`,
    )
    await call('billing/features/seats', { method: 'PUT', json: { name: 'Seats', type: 'quantity' } })
    const plan = { key: 'pro', name: 'Pro', features: { seats: { value: 5 } } }
    await call('billing/plans', { json: { ...plan, prices: [{ vendor: 'stripe', ref: 'price_1' }] } })
    const json = { consumers: [consumer], features: ['seats'] }
    const { data } = await call<Checked>('billing/entitlements/check', { json })
    const seats = data[0]?.features.seats
    expect(seats?.allowed === true && seats.value === 5, `${consumer} may use 5 seats, without a single event`)
  } finally {
    await standIn.stop()
  }
}

const nameOf = (n: number) => `user_${n}`

/** An account whose subscriptions name the company's own users. */
function account() {
  const yesterday = Math.floor(Date.now() / 1000) - 86_400
  return stripeObjects(CUSTOMERS, yesterday).map((one) => {
    const n = Number(/^sub_(\d+)$/.exec(one.id)?.[1] ?? 0)
    return n > 0 ? { ...one, metadata: { consumer_external_id: nameOf(n) } } : one
  })
}

type Caller = Awaited<ReturnType<Awaited<ReturnType<typeof openStandIn>>['newProject']>>['call']

async function imported(call: Caller, connection: string): Promise<Import> {
  const path = `billing/connections/${connection}/imports`
  const { id } = await call<Import>(path, { json: { kinds: ['customers', 'subscriptions', 'prices'] } })
  for (const until = Date.now() + IMPORT_WITHIN; ; await sleep(500)) {
    const now = await call<Import & { finished_at: string | null }>(`${path}/${id}`)
    if (now.finished_at !== null || Date.now() > until) return now
  }
}
