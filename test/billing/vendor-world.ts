import { entitlementWorld } from '../entitlements/world'
import { call } from '../harness'
import { type SignedVendor, secretOf, signedAs } from './signed'

/** A project with a connection of one vendor, which gets deliveries as that vendor signs them. @param fields of the connection */
export async function vendorWorld(
  vendor: SignedVendor,
  fields: { livemode?: boolean; customer_is_external_id?: boolean } = {},
) {
  const world = await entitlementWorld()
  const json = { vendor, name: vendor, livemode: true, signing_secret: secretOf(vendor), ...fields }
  const { body: connection } = await world.ask<{ id: string; ingest_url: string }>('POST', '/billing/connections', {
    json,
  })
  // The name of the app alone is for its sandbox.
  const sandbox = { signing_secret: secretOf(vendor).split(':')[0] }
  if (vendor === 'apple') await world.ask('POST', `/billing/connections/${connection.id}/secrets`, { json: sandbox })
  /** Delivers a payload. @returns the ids of its events */
  async function ingest(payload: unknown, environment?: string): Promise<string[]> {
    const delivery = await signedAs(vendor, payload, connection.ingest_url, environment)
    const bindings = { EVENTS: world.queue.EVENTS }
    const answer = await call(`/ingest/${connection.id}`, { method: 'POST', ...delivery, bindings })
    if (answer.status !== 200) throw new Error(`the delivery answered ${answer.status}: ${answer.text}`)
    return answer.body.event_ids
  }
  /** Delivers a payload and processes it. @returns the event as the API shows it */
  async function tell(payload: unknown, environment?: string) {
    const [id = ''] = await ingest(payload, environment)
    await world.queue.pump()
    return world.event(id)
  }
  return { ...world, connection, ingest, tell }
}
export type VendorWorld = Awaited<ReturnType<typeof vendorWorld>>
