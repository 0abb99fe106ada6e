import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, MINUTE, SECOND } from '../../../src/lib/time'
import { stripeEventOf } from '../../billing/payloads'
import { stripeObjects } from '../../harness'
import { end } from '../../projects/ending'
import { advance, cron, isOf, rows, stopClock } from '../pipeline'
import { brief, importWorld } from './world'

beforeEach(() => {
  stopClock()
})

const OBJECTS = stripeObjects(250)
const CUSTOMERS = { kinds: ['customers'] }

describe('an import', () => {
  it('is one at a time, however many are started at once', async () => {
    const world = await importWorld(OBJECTS)
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.post()))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('import_running')
    expect((await world.api(world.path)).body.data).toHaveLength(1)
  })

  it('reads a page a second, one worker at a time', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(CUSTOMERS)
    const message = { what: 'import', project_id: world.project, import_id: id }
    for (let i = 0; i < 3; i++) await world.fetches.EVENTS.send(message)
    await Promise.all([world.page(), world.page(), world.page()])
    expect(brief(await world.read(id))).toEqual({ customers: 'running 100 100 0' })
    expect(world.fetches.waiting().map(({ dueAt }) => dueAt - Date.now())).toEqual([SECOND])
    await world.page()
    expect(await world.asked()).toHaveLength(1)
  })

  it('that is canceled reads no further page, and the next one goes on from there', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(CUSTOMERS)
    await world.page()
    advance(SECOND / 2)
    expect(await world.cancel(id)).toMatchObject({ status: 200, body: { id, state: 'canceled' } })
    advance(SECOND)
    await world.page()
    expect(await world.asked()).toHaveLength(1)
    expect((await world.cancel(id)).body.state).toBe('canceled')
    advance(SECOND)
    const next = await world.start(CUSTOMERS)
    expect(await world.read(next)).toMatchObject({ continues: id, state: 'running' })
    expect(brief(await world.finish(next))).toEqual({ customers: 'done 250 250 0' })
    expect(await world.asked()).toHaveLength(3)
    const entries = await rows(
      'SELECT action, object_id FROM audit_log WHERE project_id = ? AND object_type = ? ORDER BY id',
      world.project,
      'import',
    )
    expect(entries).toEqual([
      { action: 'import.started', object_id: id },
      { action: 'import.canceled', object_id: id },
      { action: 'import.started', object_id: next },
    ])
  })

  it('begins anew after a week, after one that is done, and for invoices of another time', async () => {
    const world = await importWorld(OBJECTS)
    const first = await world.start(CUSTOMERS)
    await world.page()
    await world.cancel(first)
    advance(7 * DAY)
    const second = await world.start()
    expect(await world.read(second)).toMatchObject({ continues: null })
    expect(brief(await world.finish(second))).toMatchObject({ customers: 'done 250 150 100' })
    expect(await world.read(await world.start({ kinds: ['invoices'], invoice_months: 1 }))).toMatchObject({
      continues: null,
    })
  })

  it('ends with its key, its connection, and waits with its project', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(CUSTOMERS)
    await world.page()
    await world.api(`/connections/${world.from}/api-key`, { method: 'DELETE' })
    advance(SECOND)
    await world.page()
    expect(await world.read(id)).toMatchObject({ state: 'canceled', error: 'api_key_removed' })
    const other = await importWorld(OBJECTS)
    await other.start(CUSTOMERS)
    expect((await end(other)).status).toBe(200)
    await other.page()
    expect(await other.asked()).toEqual([])
    await other.fetches.lose()
    advance(5 * MINUTE)
    await cron({ FETCHES: other.fetches.EVENTS, EVENTS: other.queue.EVENTS })
    expect(other.fetches.waiting().filter(({ body }) => body.project_id === other.project)).toEqual([])
  })

  it('is sent again by the cron if its message was lost', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(CUSTOMERS)
    world.fetches.lose()
    const own = () =>
      world.fetches.waiting().filter((sent) => sent.body.project_id === world.project && isOf('import')(sent))
    const bindings = { FETCHES: world.fetches.EVENTS, EVENTS: world.queue.EVENTS }
    await cron(bindings)
    expect(own()).toEqual([]) // the Queue may still have it
    advance(MINUTE)
    await cron(bindings)
    await cron(bindings)
    expect(own()).toHaveLength(1)
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 250 250 0' })
  })

  it('loses to events that are newer, also to those that arrive while it runs', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['subscriptions'] })
    const of = (n: number) => OBJECTS.find((one) => one.id === `sub_${String(n).padStart(6, '0')}`) as object
    const at = Math.floor(Date.now() / SECOND)
    const early = stripeEventOf('customer.subscription.updated', { ...of(249), status: 'past_due' }, { at })
    await world.deliver(early)
    await world.page()
    const later = stripeEventOf('customer.subscription.updated', { ...of(248), status: 'past_due' }, { at })
    const old = stripeEventOf('customer.subscription.updated', { ...of(247), status: 'past_due' }, { at: at - 3600 })
    await world.deliver(later, old)
    await world.finish(id)
    const status = async (n: number) => (await world.one('subscriptions', `sub_000${n}`)).status
    expect([await status(249), await status(248), await status(247)]).toEqual(['past_due', 'past_due', 'active'])
  })

  it('whose page ends in an error of ours keeps no other import waiting, and comes again', async () => {
    const [broken, other] = [await importWorld(OBJECTS), await importWorld(OBJECTS)]
    const ids = [await broken.start(CUSTOMERS), await other.start(CUSTOMERS)]
    const [{ kinds } = { kinds: '' }] = await rows<{ kinds: string }>(
      'SELECT kinds FROM vendor_runs WHERE id = ?',
      ids[0],
    )
    await rows("UPDATE vendor_runs SET kinds = 'null' WHERE id = ?", ids[0])
    for (const { body } of other.fetches.waiting()) await broken.fetches.EVENTS.send(body)
    await broken.page()
    expect(brief(await other.read(ids[1] ?? ''))).toMatchObject({ customers: 'running 100 100 0' })
    await rows('UPDATE vendor_runs SET kinds = ? WHERE id = ?', kinds, ids[0])
    expect(await broken.finish(ids[0] ?? '')).toMatchObject({ state: 'done', error: null })
  })

  it('leaves other projects alone', async () => {
    const [one, other] = [await importWorld(OBJECTS), await importWorld(OBJECTS.slice(0, 10))]
    const id = await one.start(CUSTOMERS)
    const foreign = `/connections/${one.from}/imports`
    expect((await other.api(`${foreign}/${id}`)).status).toBe(404)
    expect((await other.api(`${foreign}/${id}/cancel`, { method: 'POST' })).status).toBe(404)
    expect((await other.api(foreign, { method: 'POST', json: {} })).status).toBe(404)
    expect((await other.api(foreign)).status).toBe(404)
    await one.finish(id)
    expect(await rows('SELECT 1 FROM billing_objects WHERE project_id = ?', other.project)).toEqual([])
    // The id of one project in a message of another finds nothing.
    await other.fetches.EVENTS.send({ what: 'import', project_id: other.project, import_id: id })
    await other.page()
    expect(await other.asked()).toEqual([])
  })

  it('reads invoices of as many months as are asked for', async () => {
    const now = Math.floor(Date.now() / SECOND)
    const world = await importWorld([
      ...stripeObjects(5, now - 100 * 86_400).map((one) => ({ ...one, id: `${one.id}_old` })),
      ...stripeObjects(3, now - 86_400),
    ])
    expect(brief(await world.finish(await world.start({ kinds: ['invoices'] })))).toEqual({ invoices: 'done 3 3 0' })
    const more = await world.start({ kinds: ['invoices'], invoice_months: 12 })
    expect(brief(await world.finish(more))).toEqual({ invoices: 'done 8 5 3' })
  })
})
