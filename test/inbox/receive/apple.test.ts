import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { payloadOf, subjectOfNotification } from '../../../src/vendors/apple-jws'
import { appleBought, inSandbox, ms } from '../../billing/payloads-apple'
import { setClock, stopClock } from '../../clock'
import { call } from '../../harness'
import { type Chain, newChain, notificationBody, sharedChain, trustRootOf, x5cOf } from '../../vendors/apple-chain'
import { newWorld } from '../pipeline'

/* Notifications of the App Store at the address of a connection. The root of the tests' chain is trusted in place of Apple's. */

const SANDBOX = 'com.example.app'
const LIVE = 'com.example.app:1234567890'
const live = appleBought('ONE_TIME_CHARGE', {}, 1)

beforeEach(() => {
  stopClock(ms(1))
})

/** A connection, and what delivers to it. @returns the status, and the code of the error */
async function connected(...secrets: string[]) {
  const world = await newWorld()
  const [first, ...others] = secrets
  const json = { vendor: 'apple', name: 'App', livemode: true, signing_secret: first }
  const { id } = (await world.api('/connections', { method: 'POST', json })).body
  for (const signing_secret of others)
    await world.api(`/connections/${id}/secrets`, { method: 'POST', json: { signing_secret } })
  const bindings = { EVENTS: world.queue.EVENTS }
  const post = (body: string) => call(`/ingest/${id}`, { method: 'POST', body, bindings })
  const deliver = async (body: string) => {
    const answer = await post(body)
    return [answer.status, answer.body.code ?? answer.body.duplicate]
  }
  return { ...world, post, deliver }
}

/** The body with a part of its signed text replaced. */
function withPart(body: string, index: number, part: (old: string) => string): string {
  const parts = (JSON.parse(body).signedPayload as string).split('.')
  parts[index] = part(parts[index] ?? '')
  return JSON.stringify({ signedPayload: parts.join('.') })
}
const encoded = (value: unknown) =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

describe('a notification', () => {
  let chain: Chain
  let body: string
  beforeEach(async () => {
    chain = await sharedChain()
    trustRootOf(chain)
    body = await notificationBody(live, chain)
  })

  it('is recorded once, and decoded', async () => {
    const world = await connected(LIVE)
    expect(await world.deliver(body)).toEqual([200, false])
    setClock(ms(4)) // as Apple repeats it
    const again = await world.post(await notificationBody(live, chain))
    expect([again.status, again.body.duplicate]).toEqual([200, true])
    await world.queue.pump()
    expect(await world.event(again.body.event_ids[0])).toMatchObject({
      vendor_event_id: live.notificationUUID,
      event_type: 'ONE_TIME_CHARGE',
      occurred_at: new Date(ms(1)).toISOString(),
      status: 'processed',
      deliveries: 2,
      differing_deliveries: 0,
      decoded_summary: {
        livemode: true,
        object: { type: 'transaction', id: '2000009' },
        amount: { value: 597, currency: 'USD' },
      },
    })
  })

  it('is accepted by the secret of its app and environment alone', async () => {
    const sandbox = await notificationBody(inSandbox(live), chain)
    const refused = [401, 'signature_mismatch']
    const accepted = [200, false]
    for (const [secrets, ofLive, ofSandbox] of [
      [[LIVE], accepted, refused],
      [[SANDBOX], refused, accepted],
      [['com.example.other', 'com.example.app:1'], refused, refused],
    ] as const) {
      const { deliver } = await connected(...secrets)
      expect([await deliver(body), await deliver(sandbox)]).toEqual([ofLive, ofSandbox])
    }
    const both = await connected(LIVE, SANDBOX)
    const other = await notificationBody(inSandbox(appleBought('ONE_TIME_CHARGE', {}, 1)), chain)
    expect([await both.deliver(body), await both.deliver(other)]).toEqual([accepted, accepted])
  })

  it('is refused if anything in it is not as Apple signs it', async () => {
    const { deliver } = await connected(LIVE)
    const strange = await newChain()
    const [leaf, intermediate, root] = x5cOf(chain)
    const signed = (header: object, by = chain) => notificationBody(live, by, header)
    const inner = encoded({ ...live, data: { ...(live.data as object), signedTransactionInfo: 'e30.e30.e30' } })
    const mismatch = [401, 'signature_mismatch']
    const malformed = [401, 'signature_malformed']
    for (const [what, sent, expected] of [
      ['another root', await signed({}, strange), mismatch],
      ['a swapped leaf', await signed({ x5c: [x5cOf(strange)[0], intermediate, root] }, strange), mismatch],
      ['a chain of two', await signed({ x5c: [leaf, root] }), malformed],
      ['a chain of four', await signed({ x5c: [leaf, intermediate, root, root] }), malformed],
      ['none', withPart(await signed({ alg: 'none' }), 2, () => ''), malformed],
      ['another transaction inside', withPart(body, 1, () => inner), mismatch],
      ['another signature', withPart(body, 2, (old) => (old[0] === 'A' ? 'B' : 'A') + old.slice(1)), mismatch],
      ['version 1', JSON.stringify({ notification_type: 'DID_RENEW', password: 'x' }), [401, 'signature_missing']],
    ] as const)
      expect([what, await deliver(sent)]).toEqual([what, expected])
    setClock(ms(40 * 365))
    expect(await deliver(body)).toEqual([401, 'signature_timestamp'])
  })

  it('that has the transaction of another app inside fails, and is kept', async () => {
    const world = await connected(LIVE)
    const odd = appleBought('ONE_TIME_CHARGE', { bundleId: 'com.example.other' }, 1)
    const { body: receipt } = await world.post(await notificationBody(odd, chain))
    await world.queue.pump()
    expect(await world.event(receipt.event_ids[0])).toMatchObject({
      status: 'failed',
      event_type: 'ONE_TIME_CHARGE',
      last_error_code: 'payload_invalid',
      last_error: 'the signedTransactionInfo is of another app',
    })
  })

  it('is refused without the test: its root is not trusted', async () => {
    const { deliver } = await connected(LIVE)
    vi.restoreAllMocks()
    expect(await deliver(body)).toEqual([401, 'signature_mismatch'])
  })
})

const { APPLE_NOTIFICATION: real } = env as unknown as { APPLE_NOTIFICATION: string }
it.runIf(real)(
  "a delivery of Apple's own is accepted at its date, and not once its certificates are over",
  async () => {
    const payload = payloadOf(JSON.parse(real).signedPayload) ?? {}
    const { bundleId, appAppleId } = subjectOfNotification(payload)
    setClock(Number(payload.signedDate))
    const { deliver } = await connected(appAppleId ? `${bundleId}:${appAppleId}` : `${bundleId}`)
    expect(await deliver(real)).toEqual([200, false])
    setClock(Date.parse('2037-01-01'))
    expect(await deliver(real)).toEqual([401, 'signature_timestamp'])
  },
)
