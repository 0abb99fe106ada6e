/*
 * npm run demo: uses a running server as a customer would and explains each step. The exit code is not 0 if the server
 * did anything wrong.
 */
import { projectPaths } from '../src/console/paths.ts'
import { type Answer, ask, must, type Problem } from './lib/api.ts'
import { awaitFinal, deliver, isReceipt } from './lib/deliver.ts'
import { readFlags } from './lib/flags.ts'
import { connect } from './lib/inbox.ts'
import { serverUrl } from './lib/running.ts'
import { newSigningSecret } from './lib/sign.ts'
import { signIn } from './lib/sign-in.ts'
import { story } from './lib/story.ts'
import { printTable, run } from './lib/terminal.ts'

type Key = { id: string; name: string; key_prefix: string; last_used_at: string | null }
type Minted = { key: Key; secret: string }
type Keys = { data: Key[] }
type Consumer = { id: string; customers: { vendor: string; id: string; linked_by: string }[] }
type Registered = { device: { id: string }; token: string }
type Checked = {
  data: { features: { seats: { allowed: boolean; value: unknown; reason: string; valid_until: string | null } } }[]
}
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

let number = 0

await run(async () => {
  const { values } = readFlags({
    usage: 'npm run demo [-- OPTIONS]',
    about:
      'Uses a server as a customer would: a project, a key, a consumer, a month of events, what it entitles to, a replay, a rotation.',
    flags: {
      url: { type: 'string', takes: 'URL', help: 'the server (default: the one that npm start runs in this checkout)' },
      email: { type: 'string', takes: 'ADDRESS', help: 'the address to sign in with', default: 'demo@example.com' },
    },
  })
  const url = serverUrl(values.url)
  const api = `${url}/platform/v1`

  step(`Signing in to ${url} as ${values.email} with a one-time code.`)
  const { token, user } = await signIn(url, values.email)
  say(`user ${user.id}`)

  step('Creating a project and minting an API key in it.')
  const { id: project } = await must<{ id: string }>(`${api}/projects`, { token, json: { name: 'Demo' } })
  const { key, secret } = await must<Minted>(`${api}/api-keys`, { token, project, json: { name: 'demo key' } })
  say(`project ${project}`)
  say(`key     ${key.id}, with a secret that is shown only once: ${shortened(secret)}`)

  step('Using the key to list the keys of its project, without their secrets.')
  const listed = await must<Keys>(`${api}/api-keys`, { token: secret, project })
  printTable(
    ['id', 'name', 'key_prefix', 'last_used_at'],
    listed.data.map((row) => [row.id, row.name, row.key_prefix, row.last_used_at ?? 'never']),
  )
  expect(!JSON.stringify(listed).includes(secret), 'the list does not contain the secret')

  step('Connecting Stripe with a signing secret.')
  const base = { url, vendor: 'stripe', token: secret, project } as const
  const inbox = await connect(base, 'Demo Stripe', newSigningSecret('stripe'))
  say(`Stripe would send its events to ${url}/ingest/${inbox.connection}`)

  step('Registering a consumer, as a server does when a user signs up.')
  const person = { email: 'ada@example.com', name: 'Ada Lovelace' }
  const { id: consumer } = await must<Consumer>(`${api}/consumers/${CONSUMER}`, {
    method: 'PUT',
    token: secret,
    project,
    json: person,
  })
  say(`consumer ${consumer}, also called ${CONSUMER}`)

  const { month: events, price, cancellation } = story({ consumer: CONSUMER.slice('ext:'.length) })
  step(
    `Sending a month of one customer: ${events.length} events, signed as Stripe signs them. Its metadata names the consumer.`,
  )
  const ids: string[] = []
  for (const { name, body } of events) {
    const answer = await deliver(inbox, name, body)
    expect(isReceipt(answer) && !answer.body.duplicate, `${name} is accepted`)
    if (isReceipt(answer)) ids.push(...answer.body.event_ids)
  }
  const [again] = events.filter(({ name }) => name === 'invoice.paid')
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
  const records = await must<{ data: Event[] }>(`${api}/billing/webhooks?view=summary&limit=20`, {
    token: secret,
    project,
  })
  printTable(
    ['event id', 'type', 'status', 'attempts', 'deliveries', 'amount', 'object'],
    records.data
      .toReversed()
      .map((event) => [
        event.id,
        event.event_type,
        event.status,
        String(event.processing_attempts),
        String(event.deliveries),
        amountOf(event),
        event.decoded_summary?.object.id ?? '',
      ]),
  )
  expect(records.data.length === events.length, `${events.length} records for ${events.length + 1} accepted deliveries`)

  step('Looking at the consumer.')
  const found = await must<Consumer>(`${api}/consumers/${CONSUMER}`, { token: secret, project })
  const [customer] = found.customers
  expect(
    customer?.vendor === 'stripe' && customer.linked_by === 'customer',
    `the events have linked Stripe’s customer ${customer?.id} to ${CONSUMER}`,
  )

  step('Describing what is sold: the feature “seats”, and a plan that gives 5 of them for each unit that is paid for.')
  const sell = <T>(path: string, method: 'PUT' | 'POST', json: unknown) =>
    must<T>(`${api}/billing/${path}`, { method, token: secret, project, json })
  await sell('features/seats', 'PUT', { name: 'Seats', type: 'quantity' })
  await sell('plans', 'POST', {
    ...{ key: 'pro', name: 'Pro', features: { seats: { value: 5, per_seat: true } } },
    prices: [{ vendor: 'stripe', ref: price }],
  })
  const settings = { test_mode_counts: true }
  await must(`${api}/projects/${project}`, { method: 'PATCH', token, json: { settings } })
  say(`plan pro, sold as ${price}; subscriptions in test mode count in this project`)
  const seats = async () => {
    const json = { consumers: [CONSUMER], features: ['seats'] }
    const { data } = await must<Checked>(`${api}/billing/entitlements/check`, { token: secret, project, json })
    return data[0]?.features.seats
  }
  const allowed = await seats()
  expect(
    allowed?.allowed === true && allowed.value === 15,
    `${CONSUMER} may use 15 seats, until ${allowed?.valid_until}: the subscription has 3 units`,
  )

  step('Registering a device of the consumer, as the app does through its server, and verifying its token.')
  const device = await must<Registered>(`${api}/consumers/${CONSUMER}/devices/phone-1`, {
    method: 'PUT',
    token: secret,
    project,
    json: { platform: 'ios', name: 'Ada’s phone' },
  })
  const verify = () =>
    must<{ valid: boolean; reason: string | null }>(`${api}/devices/verify`, {
      token: secret,
      project,
      json: { token: device.token },
    })
  expect((await verify()).valid, `the token of device ${device.device.id} is valid`)
  await must(`${api}/consumers/${CONSUMER}/devices/${device.device.id}`, { method: 'DELETE', token: secret, project })
  expect((await verify()).reason === 'revoked', 'after the device is revoked, its token is no longer valid')

  step('Replaying one event.')
  const replayed = records.data.find(({ event_type }) => event_type === 'invoice.paid')
  if (!replayed) throw new Error('invoice.paid is not among the records')
  const id = replayed.id
  await must(`${api}/billing/webhooks/${id}/replay`, { method: 'POST', token: secret, project })
  const after = (await awaitFinal(inbox, [id], 60_000)).get(id)
  expect(after?.status === replayed.status && after.processing_attempts === 2, `${id} was processed again: attempt 2`)

  step('Canceling the subscription: one more event.')
  const canceled = await deliver(inbox, cancellation.name, cancellation.body)
  expect(isReceipt(canceled), `${cancellation.name} is accepted`)
  if (isReceipt(canceled)) await awaitFinal(inbox, canceled.body.event_ids, 60_000)
  const refused = await seats()
  expect(refused?.allowed === false, `${CONSUMER} may use no seats any more: ${refused?.reason}`)

  step('Rotating the key.')
  const rotated = await must<Minted>(`${api}/api-keys/${key.id}/rotate`, { method: 'POST', token, project })
  const old = await ask<Keys>(`${api}/api-keys`, { token: secret, project })
  expect(old.status === 401, `the old secret gets 401 ${codeOf(old)}`)
  const fresh = await ask<Keys>(`${api}/api-keys`, { token: rotated.secret, project })
  expect(fresh.status === 200, `the new secret works: ${shortened(rotated.secret)}`)

  step(`Done. Sign in as ${values.email} to look around: ${url}${projectPaths(project).events}`)
})

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

function amountOf({ decoded_summary: summary }: Event): string {
  const amount = summary?.amount
  return amount ? `${(amount.value / 100).toFixed(2)} ${amount.currency}` : ''
}
