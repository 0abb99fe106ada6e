import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { mint, stripeEvent, tamperedD1 } from '../harness'
import { cron, rows } from '../inbox/pipeline'
import { follow, line, newWorld } from './world'

/** What was told since the last time, in lines. */
async function listening(by?: 'key') {
  const world = await newWorld(by)
  let { position } = await follow(world)
  const told = async () => {
    await world.queue.pump()
    const { found, position: next } = await follow(world, { after: position })
    position = next
    return found.map(line)
  }
  return { ...world, told }
}

const CUSTOMER = { id: 'cus_1', object: 'customer' }
const SUBSCRIPTION = { id: 'sub_1', object: 'subscription', customer: 'cus_1', status: 'active' }

describe('the feed of changes', () => {
  it('tells what becomes of a consumer', async () => {
    const { told, put, post, patch, remove } = await listening()
    await put('consumers/ext:ada', { email: 'ada@example.com' })
    await put('consumers/ext:ada', { email: 'ada@example.com' })
    expect(await told()).toEqual(['consumer.created consumer csm_'])
    await put('consumers/ext:ada', { email: 'ada@example.org', name: 'Ada' })
    await patch('consumers/ext:ada', { external_id: 'lovelace' })
    await patch('consumers/ext:ada', { metadata: { plan: 'a' } })
    expect(await told()).toEqual([
      'consumer.updated consumer email,name csm_',
      'consumer.named consumer external_ids csm_',
      'consumer.updated consumer metadata csm_',
    ])
    await post('consumers/ext:ada/block', {})
    await post('consumers/ext:ada/unblock', {})
    await post('consumers', { external_id: 'bob' })
    await post('consumers/ext:bob/merge', { into: 'ext:ada' })
    await remove('consumers/ext:ada')
    expect(await told()).toEqual([
      'consumer.blocked consumer csm_ by audit_entry',
      'consumer.unblocked consumer csm_ by audit_entry',
      'consumer.created consumer csm_',
      'consumer.merged consumer csm_ not csm_ by audit_entry',
      'consumer.erased consumer csm_ by audit_entry',
      'consumer.erased consumer csm_',
    ])
  })

  it('tells what events change, before it tells that they are processed, and whose it is then', async () => {
    const { told, put, happens, remove } = await listening()
    await put('consumers/ext:ada', {})
    await put('consumers/ext:bob', {})
    await told()
    await happens('customer.created', { ...CUSTOMER, metadata: { consumer_external_id: 'ada' } })
    expect(await told()).toEqual([
      'customer.linked customer cus_1 csm_ by webhook_event',
      'customer.changed customer vendor_status,livemode,updated_at,metadata,status cus_1 csm_ by webhook_event',
      'webhook_event.processed webhook_event',
    ])
    await happens('customer.subscription.created', SUBSCRIPTION)
    await happens('customer.subscription.updated', { ...SUBSCRIPTION, status: 'past_due' })
    await happens('charge.succeeded', { id: 'ch_1', object: 'charge' })
    expect(await told()).toEqual([
      'subscription.changed subscription customer,vendor_status,livemode,updated_at,status,items cus_1 csm_ by webhook_event',
      'webhook_event.processed webhook_event',
      'webhook_event.processed webhook_event',
      'webhook_event.ignored webhook_event',
    ])
    await put('billing/customers/stripe/cus_1', { consumer: 'ext:bob' })
    await remove('billing/customers/stripe/cus_1/pin')
    expect(await told()).toEqual([
      'customer.linked customer cus_1 csm_ not csm_',
      'customer.pinned customer cus_1 csm_ by audit_entry',
      'customer.unpinned customer cus_1 csm_ by audit_entry',
      'customer.linked customer cus_1 csm_ not csm_',
    ])
    await happens('customer.subscription.updated', { ...SUBSCRIPTION, customer: 'cus_2' })
    expect((await told())[0]).toBe(
      'subscription.changed subscription customer,vendor_status,updated_at,status cus_2 not cus_1 by webhook_event',
    )
  })

  it('tells nothing of an event that comes again, or too late to change anything', async () => {
    const { told, happens, send } = await listening()
    const late = { ...stripeEvent(), id: 'evt_late', type: 'customer.subscription.updated', created: 1_700_000_000 }
    await happens('customer.subscription.created', SUBSCRIPTION)
    await told()
    await send({ ...late, data: { object: { ...SUBSCRIPTION, status: 'trialing' } } })
    expect(await told()).toEqual(['webhook_event.processed webhook_event'])
    await send({ ...late, data: { object: { ...SUBSCRIPTION, status: 'trialing' } } })
    expect(await told()).toEqual([])
  })

  it('tells of an object with its revision, and of how certain its state is', async () => {
    const { happens, queue, changes, told, send } = await listening()
    const newest = async () => {
      await queue.pump()
      const { body } = await changes('?types=subscription.changed')
      return body.data.at(-1)
    }
    const event = await happens('customer.subscription.created', SUBSCRIPTION)
    expect(await newest()).toMatchObject({ revision: 1, former: null, cause: { type: 'webhook_event', id: event } })
    await happens('customer.subscription.updated', { ...SUBSCRIPTION, status: 'past_due' })
    expect(await newest()).toMatchObject({ revision: 2, customer: 'cus_1', former: null })
    await told()
    // Two that disagree about the same second: nothing that is shown changes but `ambiguous`, or the event that it comes from.
    const created = 1_799_000_000
    const tie = (id: string, status: string) => ({
      ...stripeEvent('customer.subscription.updated', { ...SUBSCRIPTION, status }),
      id,
      created,
    })
    await send(tie('evt_2', 'active'))
    const first = await newest()
    await send(tie('evt_1', 'past_due'))
    const second = await newest()
    expect([first?.revision, second?.revision]).toEqual([3, 4])
    expect(second?.fields).toEqual([])
  })

  it('tells of several events of an object at once the last one, and whose the customer of this vendor is', async () => {
    const { told, happens, queue, changes, put } = await listening()
    const { body: ada } = await put('consumers/ext:ada', {})
    await put('billing/customers/stripe/cus_1', { consumer: 'ext:ada' })
    // Another vendor has a customer with the same id, who is somebody else.
    const { body: bob } = await put('consumers/ext:bob', {})
    await put('billing/customers/paddle/cus_1', { consumer: 'ext:bob' })
    expect(bob.id).not.toBe(ada.id)
    await told()
    await happens('customer.subscription.created', SUBSCRIPTION)
    const last = await happens('customer.subscription.updated', { ...SUBSCRIPTION, status: 'past_due' })
    await queue.pump()
    const { body } = await changes('?types=subscription.changed')
    expect(body.data.map(({ consumer_id, cause }) => [consumer_id, cause?.id])).toEqual([[ada.id, last]])
  })

  it('tells what an erasure has removed from objects, and keeps nothing of the person', async () => {
    stopClock()
    const { told, put, remove, happens, queue, project } = await listening()
    await put('consumers/ext:secret-ada', { email: 'secret@example.com', name: 'Secret' })
    const customer = { ...CUSTOMER, email: 'secret@example.com', metadata: { consumer_external_id: 'secret-ada' } }
    await happens('customer.created', customer)
    await told()
    await remove('consumers/ext:secret-ada')
    for (let i = 0; i < 3; i++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
    }
    expect(await told()).toEqual([
      'consumer.erased consumer csm_ by audit_entry',
      'customer.linked customer cus_1 not csm_',
      'customer.changed customer metadata,email cus_1',
    ])
    const [kept] = await rows<{ items: string }>(
      'SELECT group_concat(items) AS items FROM changes WHERE project_id = ?',
      project,
    )
    expect(kept?.items).not.toContain('ecret')
  })

  it('tells nothing of a worker whose lease was taken over', async () => {
    const { told, happens, queue } = await listening()
    const event = await happens('customer.subscription.created', SUBSCRIPTION)
    const late = tamperedD1(async ({ sql, run }) => {
      if (/insert into "changes"/i.test(sql))
        await rows("UPDATE events SET lease_token = 'lse_other' WHERE id = ?", event)
      return run()
    })
    await queue.pump({ DB: late })
    expect(await told()).toEqual([])
  })

  it('tells a failure once, and that it is over', async () => {
    stopClock()
    const { told, happens, queue, replay } = await listening('key')
    // A database that refuses what the event would write.
    const broken = tamperedD1(({ sql, run }) => {
      if (!/insert into "billing_objects"/i.test(sql)) return run()
      throw new Error('D1_ERROR: CHECK constraint failed: planted: SQLITE_CONSTRAINT')
    })
    const goOn = async (DB?: D1Database) => {
      advance(DAY)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump(DB && { DB })
    }
    const event = await happens('customer.subscription.created', SUBSCRIPTION)
    await queue.pump({ DB: broken })
    expect(await told()).toEqual(['webhook_event.retrying webhook_event'])
    await goOn(broken)
    expect(await told()).toEqual([])
    await goOn()
    expect((await told()).at(-1)).toBe('webhook_event.recovered webhook_event')
    await replay(event)
    expect(await told()).toEqual(['event.replayed event by audit_entry', 'webhook_event.processed webhook_event'])
    const lost = await happens('customer.subscription.updated', { ...SUBSCRIPTION, status: 'past_due' })
    await queue.pump({ DB: broken })
    for (let i = 0; i < 8; i++) await goOn(broken)
    expect(await told()).toEqual(['webhook_event.retrying webhook_event', 'webhook_event.failed webhook_event'])
    await replay(lost)
    expect((await told()).at(-1)).toBe('webhook_event.recovered webhook_event')
  })

  it('tells every change that people and keys make, and nothing of the secrets', async () => {
    const { told, post, put, patch, owner, project } = await listening()
    const { key } = await mint(owner.token, project, { name: 'A' })
    await patch(`api-keys/${key.id}`, { name: 'B' })
    await post(`api-keys/${key.id}/rotate`)
    await post(`api-keys/${key.id}/rotate`, { when: 'first_use' })
    await put('consumers/ext:ada', {})
    await put('billing/features/sso', { name: 'SSO', type: 'boolean' })
    await post('billing/grants', { consumer: 'ext:ada', feature: 'sso', effect: 'allow' })
    await patch(`projects/${project}`, { settings: { grace_days: 3 } })
    await patch(`projects/${project}`, { name: 'Another' })
    expect(await told()).toEqual([
      'api_key.minted api_key by audit_entry',
      'api_key.updated api_key name by audit_entry',
      'api_key.rotated api_key by audit_entry',
      'api_key.rotation_pending api_key by audit_entry',
      'consumer.created consumer csm_',
      'feature.created feature by audit_entry',
      'grant.created grant csm_ by audit_entry',
      'project.settings_changed project grace_days by audit_entry',
      'project.renamed project by audit_entry',
    ])
  })
})
