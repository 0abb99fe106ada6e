import { describe, expect, it } from 'vitest'
import { hex, hmac, sha256Hex, utf8 } from '../../../src/lib/crypto'
import { MAX_OBJECT_ID } from '../../../src/vendors/limits'
import { call, stripeEvent } from '../../harness'
import { newWorld } from '../pipeline'

describe('the id of a billing object', () => {
  it.each([
    ['with as many characters as it may have', MAX_OBJECT_ID, 'processed'],
    ['with one more', MAX_OBJECT_ID + 1, 'failed'],
  ])('%s', async (_, length, status) => {
    const world = await newWorld()
    const id = 's'.repeat(length)
    const sent = await world.send(stripeEvent('customer.subscription.updated', { id }))
    await world.queue.pump()
    expect((await world.event(sent.body.event_ids[0])).status).toBe(status)
    const found = await world.api(`/subscriptions/${id}`)
    expect(found.status).toBe(status === 'processed' ? 200 : 404)
  })
})

it('an event of a vendor that sends no ids is known by the SHA-256 of its bytes', async () => {
  const world = await newWorld()
  const signing_secret = 'a secret of Lemon'
  const json = { vendor: 'lemonsqueezy', name: 'Lemon', livemode: true, signing_secret }
  const { body: connection } = await world.api('/connections', { method: 'POST', json })
  const body = JSON.stringify({
    meta: { event_name: 'order_created' },
    data: { type: 'orders', id: '1', attributes: {} },
  })
  const signature = hex(await hmac('SHA-256', utf8(signing_secret), body))
  const sent = await call(`/ingest/${connection.id}`, {
    method: 'POST',
    body,
    headers: { 'X-Signature': signature },
    bindings: { EVENTS: world.queue.EVENTS },
  })
  expect(sent.status).toBe(200)
  const event = await world.event(sent.body.event_ids[0])
  expect(event.vendor_event_id).toBe(await sha256Hex(body))
})
