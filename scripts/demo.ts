/*
 * npm run demo: uses a running server as a customer would and explains each step. The exit code is not 0 if the server
 * did anything wrong.
 */
import { projectPaths } from '../src/console/paths.ts'
import { adopt } from './lib/adoption.ts'
import { type Answer, ask, type Call, must, type Problem } from './lib/api.ts'
import { awaitFinal, deliver, type Inbox, isReceipt } from './lib/deliver.ts'
import { readFlags } from './lib/flags.ts'
import { connect } from './lib/inbox.ts'
import { serverUrl } from './lib/running.ts'
import { newSigningSecret } from './lib/sign.ts'
import { signIn } from './lib/sign-in.ts'
import { type Story, type StoryEvent, story } from './lib/story.ts'
import { printTable, run } from './lib/terminal.ts'

type Key = { id: string; name: string; key_prefix: string; last_used_at: string | null }
type Minted = { key: Key; secret: string }
type Keys = { data: Key[] }
type Consumer = { id: string; customers: { vendor: string; id: string; linked_by: string }[] }
type Registered = { device: { id: string }; token: string }
type Allowed = { allowed: boolean; value: unknown; reason: string; valid_until: string | null }
type Checked = { data: { features: Record<string, Allowed> }[] }
type Explained = { features: Record<string, { sources: { id: string; event_id: string; why_not: string | null }[] }> }
type Event = {
  id: string
  event_type: string
  status: string
  processing_attempts: number
  deliveries: number
  decoded_summary: { amount: { value: number; currency: string } | null; object: { id: string | null } } | null
}

/** The consumer by the ID that a customer's own systems use. */
const CONSUMER = 'ext:user_4711'

/** What the demo has set up: a project, the session of its owner, and a key. */
type Place = {
  url: string
  project: string
  token: string
  minted: Minted
  /** A call of the API by the key. */
  call: <T>(path: string, options?: Omit<Call, 'token' | 'project'>) => Promise<T>
}

let number = 0

await run(async () => {
  const { values } = readFlags({
    usage: 'npm run demo [-- OPTIONS]',
    about:
      'Uses a server as a customer would: a project, a key, a consumer, a month of events, the entitlements, a replay, a one-time payment and its refund, a rotation; then an import of an account.',
    flags: {
      url: { type: 'string', takes: 'URL', help: 'the server (default: the one that npm start runs in this checkout)' },
      'no-import': {
        type: 'boolean',
        help: 'leave out the last part, which starts a second server with a stand-in for Stripe',
      },
      email: { type: 'string', takes: 'ADDRESS', help: 'the address to sign in with', default: 'demo@example.com' },
    },
  })
  const url = serverUrl(values.url)
  const place = await openProject(url, values.email)
  await listKeys(place)
  const inbox = await connectStripe(place)
  await registerConsumer(place)
  const { month, price, cancellation, once } = story({ consumer: CONSUMER.slice('ext:'.length) })
  const records = await sendMonth(place, inbox, month)
  await showConsumer(place)
  await sell(place, price)
  await useDevice(place)
  await replay(place, inbox, records)
  await cancel(place, inbox, cancellation)
  await sellOnce(place, inbox, once)
  await rotateKey(place)
  if (!values['no-import']) await adopt({ step, say, expect })
  step(`Done. Sign in as ${values.email} to look around: ${url}${projectPaths(place.project).events}`)
})

async function openProject(url: string, email: string): Promise<Place> {
  const api = `${url}/platform/v1`
  step(`Signing in to ${url} as ${email} with a one-time code.`)
  const { token, user } = await signIn(url, email)
  say(`user ${user.id}`)

  step('Creating a project and minting an API key in it.')
  const { id: project } = await must<{ id: string }>(`${api}/projects`, { token, json: { name: 'Demo' } })
  const minted = await must<Minted>(`${api}/api-keys`, { token, project, json: { name: 'demo key' } })
  say(`project ${project}`)
  say(`key     ${minted.key.id}, with a secret that is shown only once: ${shortened(minted.secret)}`)
  const call: Place['call'] = (path, options) => must(`${api}/${path}`, { token: minted.secret, project, ...options })
  return { url, project, token, minted, call }
}

async function listKeys({ minted, call }: Place): Promise<void> {
  step('Using the key to list the keys of its project, without their secrets.')
  const listed = await call<Keys>('api-keys')
  printTable(
    ['id', 'name', 'key_prefix', 'last_used_at'],
    listed.data.map((row) => [row.id, row.name, row.key_prefix, row.last_used_at ?? 'never']),
  )
  expect(!JSON.stringify(listed).includes(minted.secret), 'the list does not contain the secret')
}

async function connectStripe({ url, project, minted }: Place): Promise<Inbox> {
  step('Connecting Stripe with a signing secret.')
  const base = { url, vendor: 'stripe', token: minted.secret, project } as const
  const inbox = await connect(base, 'Demo Stripe', newSigningSecret('stripe'))
  say(`Stripe would send its events to ${url}/ingest/${inbox.connection}`)
  return inbox
}

async function registerConsumer({ call }: Place): Promise<void> {
  step('Registering a consumer, as a server does when a user signs up.')
  const person = { email: 'ada@example.com', name: 'Ada Lovelace' }
  const { id } = await call<Consumer>(`consumers/${CONSUMER}`, { method: 'PUT', json: person })
  say(`consumer ${id}, also called ${CONSUMER}`)
}

async function sendMonth({ call }: Place, inbox: Inbox, events: readonly StoryEvent[]): Promise<Event[]> {
  step(
    `Sending a month of one customer: ${events.length} events, signed as Stripe signs them. Its metadata names the consumer.`,
  )
  const ids: string[] = []
  for (const { name, body } of events) {
    const answer = await deliver(inbox, name, body)
    expect(isReceipt(answer) && !answer.body.duplicate, `${name} is accepted`)
    if (isReceipt(answer)) ids.push(...answer.body.event_ids)
  }
  const again = events.find(({ name }) => name === 'invoice.paid')
  if (!again) throw new Error('the story has no invoice.paid')
  const repeated = await deliver(inbox, again.name, again.body)
  expect(
    isReceipt(repeated) && repeated.body.duplicate,
    'invoice.paid, delivered a second time, is recognized as a duplicate',
  )
  const forged = await deliver(inbox, again.name, again.body, newSigningSecret('stripe'))
  expect(forged.status === 401, `signed with another secret, it is refused: ${codeOf(forged)}`)

  step('Waiting until the events are processed.')
  const final = await awaitFinal(inbox, ids, 60_000)
  expect(
    [...final.values()].every(({ status }) => ['processed', 'ignored'].includes(status)),
    'all events are final',
  )
  const { data } = await call<{ data: Event[] }>('billing/webhooks?view=summary&limit=20')
  printTable(
    ['event id', 'type', 'status', 'attempts', 'deliveries', 'amount', 'object'],
    data.toReversed().map(cellsOf),
  )
  expect(data.length === events.length, `${events.length} records for ${events.length + 1} accepted deliveries`)
  return data
}

async function showConsumer({ call }: Place): Promise<void> {
  step('Looking at the consumer.')
  const { customers } = await call<Consumer>(`consumers/${CONSUMER}`)
  const [customer] = customers
  expect(
    customer?.vendor === 'stripe' && customer.linked_by === 'customer',
    `the events have linked Stripe’s customer ${customer?.id} to ${CONSUMER}`,
  )
}

async function sell(place: Place, price: string): Promise<void> {
  const { url, project, token, call } = place
  step('Describing what is sold: the feature “seats”, and a plan that gives 5 of them for each unit that is paid for.')
  await call('billing/features/seats', { method: 'PUT', json: { name: 'Seats', type: 'quantity' } })
  const features = { seats: { value: 5, per_seat: true } }
  const prices = [{ vendor: 'stripe', ref: price }]
  await call('billing/plans', { json: { key: 'pro', name: 'Pro', features, prices } })
  const json = { settings: { test_mode_counts: true } }
  await must(`${url}/platform/v1/projects/${project}`, { method: 'PATCH', token, json })
  say(`plan pro, sold as ${price}; subscriptions in test mode count in this project`)
  const allowed = await entitlementTo('seats', place)
  expect(
    allowed?.allowed === true && allowed.value === 15,
    `${CONSUMER} may use 15 seats, until ${allowed?.valid_until}: the subscription has 3 units`,
  )
}

async function entitlementTo(feature: string, { call }: Place) {
  const { data } = await call<Checked>('billing/entitlements/check', {
    json: { consumers: [CONSUMER], features: [feature] },
  })
  return data[0]?.features[feature]
}

async function useDevice({ call }: Place): Promise<void> {
  step('Registering a device of the consumer, as the app does through its server, and verifying its token.')
  const devices = `consumers/${CONSUMER}/devices`
  const { device, token } = await call<Registered>(`${devices}/phone-1`, {
    method: 'PUT',
    json: { platform: 'ios', name: 'Ada’s phone' },
  })
  const verify = () => call<{ valid: boolean; reason: string | null }>('devices/verify', { json: { token } })
  expect((await verify()).valid, `the token of device ${device.id} is valid`)
  await call(`${devices}/${device.id}`, { method: 'DELETE' })
  expect((await verify()).reason === 'revoked', 'after the device is revoked, its token is no longer valid')
}

async function replay({ call }: Place, inbox: Inbox, records: readonly Event[]): Promise<void> {
  step('Replaying one event.')
  const replayed = records.find(({ event_type }) => event_type === 'invoice.paid')
  if (!replayed) throw new Error('invoice.paid is not among the records')
  const { id } = replayed
  await call(`billing/webhooks/${id}/replay`, { method: 'POST' })
  const after = (await awaitFinal(inbox, [id], 60_000)).get(id)
  expect(after?.status === replayed.status && after.processing_attempts === 2, `${id} was processed again: attempt 2`)
}

async function cancel(place: Place, inbox: Inbox, cancellation: StoryEvent): Promise<void> {
  step('Canceling the subscription: one more event.')
  await processed(inbox, cancellation)
  const refused = await entitlementTo('seats', place)
  expect(refused?.allowed === false, `${CONSUMER} may use no seats any more: ${refused?.reason}`)
}

async function sellOnce(place: Place, inbox: Inbox, { price, payment, sale, refund }: Story['once']): Promise<void> {
  step('Selling something once: a plan with the feature “exports”, which a one-time payment gives forever.')
  const { call } = place
  await call('billing/features/exports', { method: 'PUT', json: { name: 'Exports', type: 'boolean' } })
  const prices = [{ vendor: 'stripe', ref: price, lasts: 'forever' }]
  await call('billing/plans', {
    json: { key: 'exports', name: 'Exports', features: { exports: { value: true } }, prices },
  })
  await processed(inbox, sale)
  const allowed = await entitlementTo('exports', place)
  expect(
    allowed?.allowed === true && allowed.valid_until === null,
    `${CONSUMER} may use exports, by the payment ${payment}`,
  )

  step('Giving the money back: one more event.')
  const event = await processed(inbox, refund)
  const refused = await entitlementTo('exports', place)
  expect(refused?.allowed === false, `${CONSUMER} may use exports no more: ${refused?.reason}`)
  const { features } = await call<Explained>(`consumers/${CONSUMER}/entitlements?explain=true`)
  const source = features.exports?.sources.find(({ id }) => id === payment)
  expect(source?.event_id === event, `the explanation names ${event}: “${source?.why_not}”`)
}

/** Delivers an event, and waits until it is processed. @returns the id of its record */
async function processed(inbox: Inbox, { name, body }: StoryEvent): Promise<string> {
  const answer = await deliver(inbox, name, body)
  expect(isReceipt(answer), `${name} is accepted`)
  const ids = isReceipt(answer) ? answer.body.event_ids : []
  await awaitFinal(inbox, ids, 60_000)
  return ids[0] ?? ''
}

async function rotateKey({ url, project, token, minted }: Place): Promise<void> {
  step('Rotating the key.')
  const keys = `${url}/platform/v1/api-keys`
  const rotated = await must<Minted>(`${keys}/${minted.key.id}/rotate`, { method: 'POST', token, project })
  const old = await ask<Keys>(keys, { token: minted.secret, project })
  expect(old.status === 401, `the old secret gets 401 ${codeOf(old)}`)
  const fresh = await ask<Keys>(keys, { token: rotated.secret, project })
  expect(fresh.status === 200, `the new secret works: ${shortened(rotated.secret)}`)
}

function step(text: string): void {
  number += 1
  console.log(`\n${number}. ${text}`)
}

function say(text: string): void {
  console.log(`   ${text}`)
}

/** Checks and prints an expectation. @throws if it does not hold */
function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Expected: ${what}`)
  console.log(`   ✓ ${what}`)
}

function codeOf({ body }: Answer<unknown>): string {
  return (body as Problem).code ?? ''
}

function shortened(secret: string): string {
  return `${secret.slice(0, 11)}…${secret.slice(-4)}`
}

/** An event as a row of the table. */
function cellsOf(event: Event): string[] {
  const { id, event_type, status, processing_attempts, deliveries, decoded_summary: summary } = event
  const amount = summary?.amount ? `${(summary.amount.value / 100).toFixed(2)} ${summary.amount.currency}` : ''
  return [id, event_type, status, String(processing_attempts), String(deliveries), amount, summary?.object.id ?? '']
}
