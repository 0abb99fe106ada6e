import { beforeEach, describe, expect, it } from 'vitest'
import { KEPT_DAYS } from '../../src/feed/limits'
import { DAY, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { mint, STORE } from '../harness'
import { keepHouse, rows } from '../inbox/pipeline'
import { hookedD1, hooksWorld, verified } from './world'

beforeEach(() => {
  stopClock()
})

describe('an endpoint', () => {
  it.each([
    ['http://api.acme.com/hook', '`url` must begin with https://.'],
    [
      'http://localhost:3000/hook',
      '`url` must begin with https://. For a server on your own machine, use `npm run listen`.',
    ],
    ['https://api.acme.com:8443/hook', 'port'],
    ['https://10.0.0.1/hook', 'IP address'],
    ['https://[::1]/hook', 'IP address'],
    ['https://localhost/hook', 'public internet'],
    ['https://db.internal/hook', 'public internet'],
    ['https://user:pass@api.acme.com/hook', 'password'],
    ['https://platform.test/platform/v1/consumers', 'public internet'],
    ['https://a.platform.test/hook', 'public internet'],
    ['https:api.acme.com/hook', 'ASCII'],
    ['https://api.acme.com\\@mine.plain.dev/hook', 'ASCII'],
    ['https://api.ac\u00adme.com/hook', 'ASCII'],
    ['https://api.acme.com/\u202ekooh', 'ASCII'],
    ['https://api.acme.com/hook?a=\0', 'ASCII'],
  ])('cannot be at %s', async (url, why) => {
    const world = await hooksWorld()
    const { status, body } = await world.ask('POST', 'webhook-endpoints', { url, types: ['consumer.*'] })
    expect([status, body.code, body.detail]).toEqual([422, 'validation_failed', expect.stringContaining(why)])
    expect(body.detail).toMatch(/^`url` must .*[^.]\.$/)
  })

  it('has only types that its maker may read, whoever changes it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    const key = await mint(world.owner.token, world.project, { scopes: ['webhooks:read', 'webhooks:write'] })
    const by = { token: key.secret }
    const denied = await Promise.all([
      world.ask('POST', 'webhook-endpoints', { url: endpoint.url, types: ['plan.*'] }, by),
      world.ask('PATCH', endpoint.path, { url: 'https://mine.plain.dev/hook' }, by),
      world.ask('PATCH', endpoint.path, { include_object: true }, by),
      world.ask('PATCH', endpoint.path, { types: ['consumer.*', 'invoice.*'] }, by),
    ])
    expect(denied.map(({ status, body }) => [status, body.code])).toEqual(Array(4).fill([403, 'insufficient_scope']))
    expect((await world.ask('PATCH', endpoint.path, { state: 'disabled' }, by)).status).toBe(200)
    expect((await world.ask('PATCH', endpoint.path, { state: 'active' }, by)).status).toBe(403)
  })

  it('is changed by who may read the types that it then gets, whichever it had', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, { types: ['consumer.*'] })
    const given = async (scope: string, types: string[]) => {
      const key = await mint(world.owner.token, world.project, { scopes: ['webhooks:write', scope] })
      const { status, body } = await world.ask('PATCH', endpoint.path, { types }, { token: key.secret })
      return [status, body.code ?? body.types]
    }
    expect(await given('consumers:read', ['plan.*'])).toEqual([403, 'insufficient_scope'])
    expect(await given('consumers:read', ['consumer.*', 'plan.*'])).toEqual([403, 'insufficient_scope'])
    expect((await endpoint.get()).types).toEqual(['consumer.*'])
    expect(await given('catalog:read', ['plan.*'])).toEqual([200, ['plan.*']])
    expect(await given('catalog:read', ['consumer.*'])).toEqual([403, 'insufficient_scope'])
  })

  it('has one to three secrets, each of which signs', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    const added = await world.must('POST', `${endpoint.path}/secrets`)
    await world.change()
    await world.pump()
    const [both] = await endpoint.seen()
    if (!both) throw new Error('nothing came')
    for (const secret of [endpoint.secret, String(added.secret)]) {
      expect(verified(secret, both).type).toBe('consumer.created')
    }
    const [first] = added.endpoint.secrets
    await world.must('DELETE', `${endpoint.path}/secrets/${first?.id}`)
    await world.change()
    await world.pump()
    const seen = await endpoint.seen()
    expect(() => verified(endpoint.secret, seen[1] as never)).toThrow()
    expect(verified(String(added.secret), seen[1] as never).type).toBe('consumer.created')
    const stored = JSON.stringify(await rows('SELECT * FROM webhook_endpoints WHERE id = ?', endpoint.id))
    expect(stored.includes(String(added.secret).slice(6))).toBe(false)
  })

  it('gets the object as it is, if it asks for it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, { include_object: true })
    const [id] = await world.change()
    await world.must('PATCH', `consumers/${id}`, { email: 'ada@example.com' })
    await world.pump()
    const [made, changed] = await endpoint.got()
    expect(made?.data.current).toMatchObject({ object: { id, email: 'ada@example.com' } })
    expect([made?.type, changed?.type]).toEqual(['consumer.created', 'consumer.updated'])
    expect(made?.data.current).toEqual(changed?.data.current)
  })

  it('gets customers as their own events tell of them, and none before one does', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, { include_object: true, types: ['customer.*'] })
    await world.must('PUT', 'billing/customers/stripe/cus_pinned', { consumer: null })
    await world.happens('customer.updated', {
      object: 'customer',
      id: 'cus_told',
      invoice_settings: { default_payment_method: 'pm_default' },
    })
    await world.pump()
    const sent = await endpoint.got()
    const of = (type: string) => sent.find((message) => message.type === type)?.data
    expect(of('customer.pinned')?.object.id).toBe('cus_pinned')
    expect(of('customer.pinned')).not.toHaveProperty('current')
    expect(of('customer.changed')?.current).toMatchObject({
      revision: 1,
      object: { id: 'cus_told', vendor: 'stripe', default_payment_method: 'pm_default' },
    })
  })

  it('gets a change, or a range, again when somebody asks for it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    const ids = await world.change(3)
    await world.pump()
    const numbers = (await endpoint.got()).map(({ data }) => data.number)
    await endpoint.answers({})
    await world.must('POST', `${endpoint.path}/deliveries/${numbers[1]}/resend`)
    await world.pump()
    expect((await endpoint.got()).map(({ data }) => data.object.id)).toEqual([ids[1]])
    const range = { after: Number(numbers[0]) - 1, until: Number(numbers[2]) }
    const resend = await world.must('POST', `${endpoint.path}/resend`, range)
    await world.pump()
    expect((await endpoint.got()).slice(1).map(({ data }) => data.object.id)).toEqual(ids)
    const [row] = await rows('SELECT * FROM resends WHERE id = ?', resend.id)
    expect(row).toMatchObject({ position: range.until, finished_at: Date.now() })
    expect((await world.ask('POST', `${endpoint.path}/resend`, { after: 0, until: 999 })).status).toBe(422)
    expect((await world.ask('POST', `${endpoint.path}/deliveries/999/resend`)).status).toBe(404)
  })

  it('gets of a range only the changes whose attempts have all failed, if somebody asks for these', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 })
    const ids = await world.change(3)
    await world.pump()
    const [third, second, first] = await endpoint.deliveries()
    if (!first || !second || !third) throw new Error('these changes must have failed')
    // Given up are the first and the third; the second waits for a retry.
    const given = JSON.stringify([first.number, third.number])
    await STORE.prepare(
      "UPDATE deliveries SET state = 'failed', due_at = NULL WHERE endpoint_id = ?1 AND seq IN (SELECT value FROM json_each(?2))",
    )
      .bind(endpoint.id, given)
      .run()
    await STORE.prepare('UPDATE deliveries SET due_at = 4000000000000 WHERE endpoint_id = ?1 AND seq = ?2')
      .bind(endpoint.id, second.number)
      .run()
    await endpoint.answers({})
    const range = { after: first.number - 1, until: second.number, failed_only: true }
    const resend = await world.must('POST', `${endpoint.path}/resend`, range)
    expect(resend).toMatchObject({ ...range, types: null, reached: range.after, finished_at: null })
    await world.pump()
    expect((await endpoint.got()).map(({ data }) => data.object.id)).toEqual([ids[0]])
    expect((await endpoint.deliveries()).map(({ number, state }) => [number, state])).toEqual([
      [third.number, 'failed'],
      [second.number, 'pending'],
    ])
    await world.must('POST', `${endpoint.path}/resend`, {
      after: 0,
      until: third.number,
      failed_only: true,
      types: ['consumer.updated'],
    })
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(1)
    await endpoint.answers({ status: 500 })
    await world.must('POST', `${endpoint.path}/resend`, { after: 0, until: third.number, failed_only: true })
    await world.pump()
    expect((await endpoint.got()).map(({ data }) => data.object.id)).toEqual([ids[2]])
    expect((await endpoint.deliveries())[0]).toMatchObject({ number: third.number, state: 'pending', tries: 1 })
    const open = await rows('SELECT 1 FROM resends WHERE endpoint_id = ? AND finished_at IS NULL', endpoint.id)
    expect(open).toEqual([])
  })

  it('gets the failed changes of a long range in pages, and reads only those', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    await world.change(1)
    await world.pump()
    const [{ data: first } = { data: { number: 0 } }] = await endpoint.got()
    // As many changes as five pages have, of which every second one was given up.
    const n = 500
    await STORE.prepare(`INSERT INTO changes SELECT project_id, ?2 + value, at, items FROM changes, json_each(?3)
      WHERE project_id = ?1 AND seq = ?2`)
      .bind(world.project, first.number, JSON.stringify(Array.from({ length: n }, (_, i) => i + 1)))
      .run()
    await STORE.prepare(`INSERT INTO deliveries SELECT ?1, ?2, seq, 'consumer.created', 'failed', 10, NULL, 0, 500, NULL FROM changes
      WHERE project_id = ?1 AND seq > ?3 AND seq % 2 = 0`)
      .bind(world.project, endpoint.id, first.number)
      .run()
    await STORE.prepare('UPDATE webhook_endpoints SET position = ?2 WHERE id = ?1')
      .bind(endpoint.id, first.number + n)
      .run()
    await endpoint.answers({})
    const counted: number[] = []
    const DB = hookedD1(async ({ run }) => {
      const results = await run()
      counted.push(results.reduce((sum, { meta }) => sum + meta.rows_read, 0))
      return results
    })
    await world.must('POST', `${endpoint.path}/resend`, {
      after: first.number,
      until: first.number + n,
      failed_only: true,
    })
    await world.pump({ DB })
    expect(await endpoint.seen()).toHaveLength(n / 2)
    expect(await endpoint.deliveries()).toEqual([])
    expect(Math.max(...counted)).toBeLessThan(1500)
  })

  it('is tested at once, also if it is disabled, and that changes nothing about it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 503, body: 'down' })
    await world.must('PATCH', endpoint.path, { state: 'disabled' })
    const before = await endpoint.row()
    const { attempts } = await world.must('POST', `${endpoint.path}/test`)
    expect(attempts).toMatchObject([{ outcome: 'failed', http_status: 503, answer: 'down', number: null }])
    expect(await endpoint.row()).toEqual(before)
    const [sent] = await endpoint.seen()
    expect(verified(endpoint.secret, sent as never)).toMatchObject({ type: 'webhook_endpoint.test' })
  })

  it('whose message was lost, or whose worker died, is found by the cron', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    await world.change()
    world.queues.lose()
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toEqual([])
    advance(MINUTE)
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(1)
    await world.change()
    const DB = hookedD1(async ({ sql, run }) => {
      if (sql.includes('insert into "delivery_runs"')) throw new Error('D1_ERROR: the worker was stopped')
      return run()
    })
    await world.pump({ DB })
    advance(2 * MINUTE)
    await world.cron()
    await world.pump()
    const got = await endpoint.got()
    expect(new Set(got.map(({ data }) => data.id)).size).toBe(2)
    expect(await endpoint.get()).toMatchObject({ behind: 0, state: 'active' })
  })

  it('that was left behind learns of the gap first', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    await world.must('PATCH', endpoint.path, { state: 'disabled' })
    await world.change(2)
    await STORE.prepare('UPDATE changes SET at = 0 WHERE project_id = ?').bind(world.project).run()
    await world.change()
    advance(KEPT_DAYS * DAY)
    await STORE.prepare('DELETE FROM changes WHERE project_id = ? AND at = 0').bind(world.project).run()
    await world.must('PATCH', endpoint.path, { state: 'active' })
    await world.pump()
    const got = await endpoint.got()
    expect(got.map(({ type }) => type)).toEqual(['feed.gap', 'consumer.created'])
    expect(await endpoint.get()).toMatchObject({ behind: 0 })
  })

  it('leaves nothing when it is deleted, and its log is kept for 30 days', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 })
    await world.change()
    await world.pump()
    const left = async () =>
      (
        await Promise.all(
          ['delivery_runs', 'deliveries', 'resends'].map((table) =>
            rows(`SELECT 1 FROM ${table} WHERE endpoint_id = ?`, endpoint.id),
          ),
        )
      ).map(({ length }) => length)
    await world.must('POST', `${endpoint.path}/resend`, { after: 0, until: 1 })
    await keepHouse(world.bindings)
    expect(await left()).toEqual([1, 1, 1])
    await world.must('DELETE', endpoint.path)
    await keepHouse(world.bindings)
    expect(await left()).toEqual([0, 0, 0])
  })
})

describe('a lone change', () => {
  it.each([[1], [10]])('costs each of %i endpoints two trips and four rows written', async (n) => {
    const world = await hooksWorld()
    for (let i = 0; i < n; i++) await world.endpoint()
    const [id] = await world.change()
    world.queues.lose()
    await world.cron()
    advance(2 * MINUTE)
    await world.cron()
    const cost = { trips: 0, rows_read: 0, rows_written: 0 }
    const DB = hookedD1(async ({ run }) => {
      const results = await run()
      cost.trips += 1
      for (const { meta } of results) {
        cost.rows_read += meta.rows_read
        cost.rows_written += meta.rows_written
      }
      return results
    })
    await world.pump({ DB })
    expect(id).toBeDefined()
    expect([cost.trips, cost.rows_written, cost.rows_read < 60 * n]).toEqual([2 * n, 3 * n, true])
  })
})
