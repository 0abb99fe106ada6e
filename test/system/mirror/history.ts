import { deliver } from '../../../scripts/lib/deliver.ts'
import { bodyOf, livesOf, randomFrom, shuffled } from '../../billing/lives.ts'
import { call } from '../soak/call.ts'
import type { World } from './world.ts'

/** Consumers, and customers of the vendor, that histories are about. */
const PEOPLE = 40
/** The time of the first event (s): the lives begin later. */
const FIRST = 1_767_225_000

type Random = { chance: (share: number) => boolean; int: (n: number) => number }
type Act = () => Promise<unknown> | false
type Send = (method: 'PUT' | 'POST' | 'PATCH' | 'DELETE', path: string, json?: object) => Promise<Sent>
type Sent = { status: number; body: { id?: string } }

/** A history of a project: random events of its vendor, and calls of its own server. A seed makes the same acts again. */
export function historyOf({ url, project, writer, inbox }: World, seed: number) {
  const random = randomFrom(seed)
  const int = (n: number) => Math.floor(random() * n)
  const chance = (share: number) => random() < share
  const send: Send = (method, path, json) =>
    call<Sent['body']>(`${url}/platform/v1/${path}`, { method, token: writer, project, ...(json && { json }) })
  const event = async (body: object) => {
    await deliver({ ...inbox, patience: 1 }, '', Buffer.from(JSON.stringify(body))).catch(() => null)
  }
  let made = 0
  const happens = (type: string, object: object) => {
    made += 1
    const about = { id: `evt_${seed}_${made}`, object: 'event', api_version: '2026-03-25.dahlia', livemode: true }
    return event({ ...about, created: FIRST + made, type, data: { object } })
  }
  const acts = [...callsOf({ chance, int }, send), ...eventsOf({ chance, int }, happens)]
  const lives = () => shuffled(livesOf(int(1e9), PEOPLE), random).flatMap(({ events }) => shuffled(events, random))
  let events = lives()
  return {
    /** Does one thing. It may fail, as while the server is dead. */
    async act(): Promise<void> {
      if (chance(0.4)) {
        await acts[int(acts.length)]?.()
        return
      }
      if (events.length === 0) events = lives()
      const next = events.pop()
      if (next) await event(bodyOf(next))
    },
  }
}

/** What the project's own server does with its consumers. */
function callsOf({ chance, int }: Random, send: Send): Act[] {
  const ext = () => `ext:u${int(PEOPLE)}`
  const customer = () => `billing/customers/stripe/cus_life${int(PEOPLE)}`
  const grants: string[] = []
  return [
    () => send('PUT', `consumers/${ext()}`, { name: `Name ${int(1e6)}`, metadata: { n: `${int(9)}` } }),
    () => send('PUT', `consumers/${ext()}`, { email: `u${int(1e6)}@example.com` }),
    () => send('PATCH', `consumers/${ext()}`, { external_id: `u${int(PEOPLE)}` }),
    () => send('POST', `consumers/${ext()}/block`, {}),
    () => send('POST', `consumers/${ext()}/unblock`, {}),
    () => chance(0.3) && send('POST', `consumers/${ext()}/merge`, { into: ext() }),
    () => chance(0.1) && send('DELETE', `consumers/${ext()}`),
    () => send('PUT', customer(), { consumer: chance(0.2) ? null : ext() }),
    () => send('DELETE', `${customer()}/pin`),
    async () => {
      const { status, body } = await send('POST', 'billing/grants', {
        consumer: ext(),
        feature: 'seats',
        value: 1 + int(50),
      })
      if (status === 201 && body.id) grants.push(body.id)
    },
    () => grants.length > 0 && send('DELETE', `billing/grants/${grants[int(grants.length)]}`),
  ]
}

/** What the vendor reports beside the lives of subscriptions and invoices. */
function eventsOf({ chance, int }: Random, happens: (type: string, object: object) => Promise<unknown>): Act[] {
  const draft = () => ({
    id: `in_draft${int(PEOPLE)}`,
    object: 'invoice',
    status: 'draft',
    customer: `cus_life${int(PEOPLE)}`,
  })
  return [
    () => {
      const n = int(PEOPLE)
      const invoice_settings = { default_payment_method: chance(0.6) ? `pm_${n}_${int(2)}` : null }
      const metadata = chance(0.5) ? { consumer_external_id: `u${int(PEOPLE)}` } : {}
      const said = { name: `N ${int(99)}`, invoice_settings, metadata }
      // A deleted customer never comes back: most must stay, however long the history is.
      const type = n < PEOPLE / 4 && chance(0.2) ? 'customer.deleted' : 'customer.updated'
      return happens(type, { id: `cus_life${n}`, object: 'customer', ...said })
    },
    () => {
      const n = int(PEOPLE)
      const card = { brand: 'visa', last4: '4242', exp_month: 1 + int(12), exp_year: 2030 }
      const method = { id: `pm_${n}_${int(2)}`, object: 'payment_method', type: 'card', card, customer: `cus_life${n}` }
      return happens(chance(0.1) ? 'payment_method.detached' : 'payment_method.updated', method)
    },
    () => {
      const n = int(PEOPLE)
      const sale = {
        mode: 'payment',
        payment_status: 'paid',
        amount_total: 900,
        currency: 'eur',
        metadata: { price_id: 'price_1' },
      }
      return happens('checkout.session.completed', {
        id: `cs_${n}`,
        object: 'checkout.session',
        payment_intent: `pi_${n}`,
        customer: `cus_life${n}`,
        ...sale,
      })
    },
    () => {
      const n = int(PEOPLE)
      const status = chance(0.2) ? 'failed' : 'succeeded'
      const refund = {
        id: `re_${n}_${int(2)}`,
        object: 'refund',
        payment_intent: `pi_${n}`,
        amount: 300,
        currency: 'eur',
        status,
      }
      return happens('refund.updated', refund)
    },
    () => happens('invoice.deleted', draft()),
    () => happens('invoice.created', draft()),
  ]
}
