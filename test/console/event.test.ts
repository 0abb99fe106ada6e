import { beforeAll, describe, expect, it } from 'vitest'
import { EVENT_ERROR_CODES, eventAdvice } from '../../src/vendors/event-errors'
import { stripeEventOf, stripeItem, stripeSubscription, T0 } from '../billing/payloads'
import { as } from '../consumers/consumers'
import { call, countingD1, deliver, lossyQueue, STORE, settled, stripeEvent } from '../harness'
import { insertConnection, insertEvents, seedEvent } from '../inbox/seeding'
import { eventWorld } from './event-world'
import { submit, visit } from './visit'

let here: Awaited<ReturnType<typeof eventWorld>>
beforeAll(async () => {
  here = await eventWorld()
})

describe('the page of an event', () => {
  it.each([...EVENT_ERROR_CODES, null])('says what the error %s means and what to do', async (last_error_code) => {
    const last_error = "Cannot read properties of undefined (reading 'x')"
    const failed = await here.see(await here.put({ status: 'failed', last_error, last_error_code }))
    const { what, todo } = eventAdvice(last_error_code, 'Stripe')
    expect(failed).toContain(`${what} ${todo}`)
    expect(failed).not.toContain('{vendor}')
    expect(failed).toMatch(/(Replay|replay|Check that|Compare|cannot be processed again)/)
    expect(failed).toContain('Cause: <strong class="error">Cannot read properties of undefined (reading &#39;x&#39;)<')
  })

  it('says that an event which waits for its next attempt needs nothing', async () => {
    const text = await here.see(
      await here.put({ status: 'retrying', last_error: 'a bug of ours', last_error_code: 'internal_error' }),
    )
    expect(text).toContain('You do not need to do anything yet')
    expect(text).toContain('>Retry now</a>')
  })

  it('says of a real event why it failed, and of an ignored one why nothing was done', async () => {
    const failed = await here.see(await here.send({ ...stripeEvent(), data: null }))
    expect(failed).toContain('not a valid event from Stripe')
    // What is wrong with this event comes first.
    expect(failed).toMatch(
      /<div class="facing"><section class="trouble"[^>]*><p>Cause: <strong class="error">the payload has no data\.object</,
    )
    const ignored = await here.see(await here.send(stripeEvent('price.created', { id: 'price_1', object: 'price' })))
    expect(ignored).toContain('Stripe events of this type do not change billing state')
    const connection = await insertConnection(here.project, 'adyen')
    const other = await here.see(await here.put({ connection, status: 'ignored' }))
    expect(other).toContain('Adyen events do not become billing state')
  })

  it('shows a payload that is nested as deep as JSON can be, beside the one before it', async () => {
    for (const [depth, status] of [
      [500, 'processed'],
      [15_000, 'failed'],
    ] as const) {
      const nested = (end: number) => `${'{"a":['.repeat(depth)}${end}${']}'.repeat(depth)}`
      const ids: string[] = []
      for (const end of [1, 2]) {
        const { id, ...event } = stripeEvent('customer.updated', { id: `cus_deep${depth}`, object: 'customer' })
        const text = JSON.stringify({ ...event, id: `${id}_${end}` }).replace(
          '"object":"customer"',
          `$&,"metadata":${nested(end)}`,
        )
        const { body } = await deliver(here.connection, text)
        await settled(here.project, here.owner.token, body.event_ids[0])
        ids.push(body.event_ids[0])
      }
      for (const id of ids) {
        const { status: shown, text } = await visit(`${here.events}/${id}?find=a`, here.owner.token)
        expect([depth, shown, text.includes(`>${status}<`), text.length < 60_000]).toEqual([depth, 200, true, true])
      }
    }
  })

  it('warns where the mode of the payload is not that of the connection, and links to the connection', async () => {
    const connection = `href="/console/p/${here.project}/platform/billing/connections/${here.connection}"`
    const test = await here.see(await here.send({ ...stripeEvent(), livemode: false }))
    expect(test).toContain('This is a test event, but its connection is set to live mode')
    expect(test).toContain(connection)
    const live = await here.see(await here.send({ ...stripeEvent(), livemode: true }))
    expect(live).not.toContain('but its connection is set to')
    const deleted = await insertConnection(here.project, 'paddle', { deleted: true })
    const orphan = await here.see(await here.put({ connection: deleted }))
    expect(orphan).toContain('paddle (deleted)')
    expect(orphan).not.toContain(`connections/${deleted}`)
  })

  it('counts repeated deliveries, and says where one had other content', async () => {
    const event = stripeEvent('customer.created', { id: 'cus_7', object: 'customer' })
    const id = await here.send(event)
    expect(await here.see(id)).toContain('<dd>1</dd>')
    await deliver(here.connection, event)
    const repeated = await here.see(id)
    expect(repeated).toContain('<dd>2, the last')
    expect(repeated).not.toContain('other content')
    await deliver(here.connection, { ...event, type: 'customer.updated' })
    const differs = await here.see(id)
    expect(differs).toContain('<dd>3, the last')
    expect(differs).toContain('A later delivery of this')
  })

  it('names the consumer of its customer, and calls the customer as the vendor does, with its id', async () => {
    const fields = { customer: 'cus_known', status: 'active' }
    const customer = { object: 'customer', id: 'cus_known', name: 'Ada at <Stripe>' }
    const made = await here.send(stripeEvent('customer.created', customer))
    const id = await here.send(stripeEvent('customer.subscription.updated', { id: 'sub_known', ...fields }))
    const named = />Ada at &lt;Stripe&gt;<\/a> <span class="aside quiet"><code class="id">cus_known</
    expect(await here.see(id)).toMatch(named)
    expect(await here.see(made)).toMatch(named)
    const api = as(here.project, here.owner.token)
    const { body: consumer } = await api.put('ada', { name: 'Ada Lovelace' })
    await api.pin('cus_known', consumer.id)
    const text = await here.see(id)
    expect(text).toMatch(new RegExp(`<dt>Consumer</dt><dd><a href="[^"]+/consumers/${consumer.id}">Ada Lovelace</a>`))
    expect(text).toMatch(named)
  })

  it('shows the headers that are kept of a delivery', async () => {
    const connection = await insertConnection(here.project, 'recurly')
    const id = await here.put({ connection })
    await STORE.prepare('UPDATE bodies SET headers = ? WHERE project_id = ? AND id = ?')
      .bind('{"recurly-notification-id":"<b>1</b>"}', here.project, id.replace('evt_', 'pay_'))
      .run()
    const text = await here.see(id)
    expect(text).toContain('<code>recurly-notification-id</code>')
    expect(text).toContain('<code>&lt;b&gt;1&lt;/b&gt;</code>')
  })

  it('reads in few round trips', async () => {
    const id = await here.send(stripeEvent())
    const { DB, count } = countingD1()
    await visit(`${here.events}/${id}`, here.owner.token, { bindings: { EVENTS: lossyQueue().EVENTS, DB } })
    // The session, the event, what it is compared with beside its names and links, the frame.
    expect(count.trips).toBeLessThanOrEqual(6)
  })
})

describe('what an event changed', () => {
  /** The words of a part of the page, from its heading to the next one. */
  const part = (text: string, from: string) => {
    const rest = text.slice(text.indexOf(`>${from}</h2>`)).split('</h2>')[1] ?? ''
    return rest
      .replace(/<h2.*/s, '')
      .replace(/<[^>]+>/g, ' ')
      .replaceAll('&quot;', '"')
      .replace(/\s+/g, ' ')
      .trim()
  }
  const sent = async (object: Record<string, unknown>, options: Parameters<typeof stripeEventOf>[2] = {}) => {
    const type = object.object === 'subscription' ? 'customer.subscription.updated' : 'price.updated'
    return here.send({ ...stripeEventOf(type, object, options), livemode: true })
  }

  it('is shown of the billing state, and of the object as the vendor reports it: only what changed', async () => {
    const first = await here.see(
      await sent(stripeSubscription({ id: 'sub_c', status: 'trialing', metadata: { a: '1', b: '2' } })),
    )
    expect(part(first, 'Effects')).toMatch(
      /Subscription 2 × \$12\.00 \/ month sub_c applied .* No earlier state of this object was stored\. .*Status: Trialing/,
    )
    expect(part(first, 'Effects')).toContain('Metadata: set')
    expect(part(first, 'Changed fields')).toMatch(/^The object’s earlier state is not known: there is no earlier event/)
    const object = stripeSubscription({ id: 'sub_c', status: 'active', metadata: { a: '3', b: '2' } })
    const previous = { status: 'trialing', metadata: { a: '1' } }
    const text = await here.see(await sent(object, { at: T0 + 60, previous }))
    expect(part(text, 'Effects')).toContain('Status: Trialing → Active')
    expect(part(text, 'Effects')).toContain('Metadata: changed: see the object for its value')
    expect(part(text, 'Effects')).not.toMatch(/Vendor status|Updated at/)
    expect(part(text, 'Effects')).not.toContain('No earlier state')
    expect(part(text, 'Changed fields')).toBe(
      'status: "trialing" → "active" metadata.a: "1" → "3" As Stripe reports it in the event.',
    )
  })

  it('is said of the items with the names of their prices', async () => {
    const priced = (id: string, nickname: string | null) => {
      const { price } = stripeItem()
      return { items: { data: [stripeItem({ price: { ...price, id, nickname } })], has_more: false } }
    }
    await sent(stripeSubscription({ id: 'sub_n', ...priced('price_1', 'Team, <monthly>') }))
    const id = await sent(stripeSubscription({ id: 'sub_n', ...priced('price_2', null) }), { at: T0 + 60 })
    expect(part(await here.see(id), 'Effects')).toContain('Items: 2 × Team, &lt;monthly&gt; → 2 × price_2')
  })

  it('is shown by a comparison with the last event about the object before it, by the time of the vendor', async () => {
    const price = (amount: number, more = {}) => ({
      id: 'price_c',
      object: 'price',
      unit_amount: amount,
      tiers: [{ up_to: 1 }],
      ...more,
    })
    const first = await sent(price(100))
    const third = await sent(price(300, { active: true, tiers: [] }), { at: T0 + 20 })
    const late = await sent(price(200), { at: T0 + 10 })
    const changed = async (id: string) => part(await here.see(id), 'Changed fields')
    expect(await changed(late)).toMatch(/^unit_amount: 100 → 200 Compared with price\.updated , the last event/)
    expect(await here.see(late)).toContain(`${here.events}/${first}">price.updated</a>, the last event`)
    expect(await changed(third)).toMatch(
      /^unit_amount: 200 → 300 tiers: \[{"up_to":1}\] → \[\] active: none → true Compared/,
    )
    expect(await changed(await sent(price(300, { active: true, tiers: [] }), { at: T0 + 30 }))).toMatch(
      /^Nothing\. Compared/,
    )
    await STORE.prepare('DELETE FROM bodies WHERE id = ?').bind(late.replace('evt_', 'pay_')).run()
    await STORE.prepare('UPDATE events SET payload_id = ? WHERE id = ?').bind('pay_gone', late).run()
    expect(await changed(third)).toMatch(
      /^The object’s earlier state is not known: the payload of the previous event, price\.updated/,
    )
    expect(await changed(late)).toBe('')
  })
})

describe('a payload on the page of an event', () => {
  it('is a tree in colors that leaves numbers and escapes as they are', async () => {
    const text = await here.see(await here.put({}, '{"a":1.50,"b":{"\\u0063":"\\u003cx>","d":[],"e":[true,{ }]}}'))
    const tree = /<div class="json">(.*?)<\/section>/s.exec(text)?.[1] ?? ''
    const plain = tree
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&gt;', '>')
    expect(plain).toBe('{"a": 1.50,"b": {"\\u0063": "\\u003cx>","d": [],"e": [true,{}]}}')
    expect(tree.match(/<details open/g)).toHaveLength(3)
    expect(tree).toContain('<em>1.50</em>')
  })

  it('cannot break out of the page', async () => {
    const text = await here.see(await here.put({}, '{"</summary><script>":"</details><img src=x onerror=1>"}'))
    expect(text).not.toMatch(/<script>|<img/)
    expect(text).toContain('&lt;/summary&gt;&lt;script&gt;')
  })

  it.each([
    ['as plain text if it is nested deeply', '['.repeat(30) + ']'.repeat(30), 'Payload as JSON'],
    ['as text if it is not JSON', 'bt_payload=PG5vdGlm&bt_signature=1', 'Payload as text'],
  ])('is shown %s', async (_, body, label) => {
    const text = await here.see(await here.put({}, body))
    expect(text).toContain(`aria-label="${label}"`)
    expect(text).not.toContain('class="json"')
  })

  it('is searched without a script: what matches is marked, and the rest is left out', async () => {
    const many = Array.from({ length: 9000 }, (_, n) => `{"k${n}":"<b>"}`).join()
    const id = await here.put({}, `{"a":"x${'y'.repeat(300)}Needle","needles":{"b":[1,{}]},"many":[${many}]}`)
    const find = async (text: string) => {
      const page = await visit(
        `${here.events}/${id}?list=status%3Dfailed&find=${encodeURIComponent(text)}`,
        here.owner.token,
      )
      expect(new TextEncoder().encode(page.text).byteLength).toBeLessThan(60_000)
      expect(page.text).toContain('<input type="hidden" name="list" value="status=failed"/>')
      const said = /<p role="status">(Found|Nothing)(.*?)<\/p>/.exec(page.text)?.[0].replace(/<[^>]+>/g, '')
      return [said, /<div class="json">.*?<\/section>/s.exec(page.text)?.[0].replace(/<(?!\/?mark)[^>]+>/g, '')]
    }
    const only = 'Only the matching parts of the payload are shown'
    expect(await find('NEEDLE')).toEqual([
      `Found 2 times. ${only}.`,
      expect.stringMatching(
        /^{&quot;a&quot;: …y+<mark>Needle<\/mark>&quot;,&quot;<mark>needle<\/mark>s&quot;: {&quot;b&quot;: \[1,{}\]}}$/,
      ),
    ])
    expect(await find('<b>')).toEqual([
      `Found 9,000 times. ${only}, as far as they fit.`,
      expect.stringContaining('<mark>&lt;b&gt;</mark>'),
    ])
    expect(await find('none')).toEqual(['Nothing in the payload contains “none”.', undefined])
  })

  it('is shown as bytes if it is not text', async () => {
    const text = await here.see(await here.put({}, new Uint8Array([0xff, 0x00, 0x41]).buffer))
    expect(text).toContain('The payload is not UTF-8 text')
    expect(text).toContain('000000  ff 00 41')
  })

  it.each([
    ['characters that are escaped', JSON.stringify('"&<>\''.repeat(150_000))],
    ['many small values', `[${'1,'.repeat(300_000)}1]`],
    ['many small lists', `[${'[1],'.repeat(200)}${'{"a":{"b":0}},'.repeat(120)}0]`],
    ['lists around the bound', `[${'[1],'.repeat(160)}0]`],
    ['long characters', JSON.stringify('語'.repeat(200_000))],
    ['brackets', '['.repeat(900) + ']'.repeat(900)],
    ['no JSON', '<&>'.repeat(200_000)],
  ])('leaves the page below 60 KB: %s, after many attempts', async (_, body) => {
    const id = await here.put({ attempts: 40, status: 'failed', last_error: '<'.repeat(1000) }, body)
    await STORE.prepare(
      `INSERT INTO attempts SELECT ?1, value, 'retry', 'key_1', 1, 2, 'retrying', ?2
        FROM json_each('[${Array.from({ length: 40 }, (_, n) => n + 1)}]')`,
    )
      .bind(id, '>'.repeat(1000))
      .run()
    const text = await here.see(id)
    expect(text).toContain('The last 15 of 40 attempts are shown')
    expect(text).toContain('value="40"')
    expect(text).not.toContain('value="25"')
    expect(new TextEncoder().encode(text).byteLength).toBeLessThan(60_000)
  })

  it('leaves the page below 60 KB beside large changes and effects, after many attempts', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `${'<'.repeat(100)}${n}`)
    const fields = (sign: string) => Object.fromEntries(names.map((name) => [name, sign.repeat(200)]))
    const object = stripeSubscription({ id: 'sub_large', metadata: fields('"'), description: '"'.repeat(4000) })
    const event = stripeEventOf('customer.subscription.updated', object, { previous: { metadata: fields("'") } })
    const id = await here.send({ ...event, livemode: true })
    await STORE.prepare(
      `INSERT OR REPLACE INTO attempts SELECT ?1, value, 'retry', 'key_1', 1, 2, 'retrying', ?2
        FROM json_each('[${Array.from({ length: 40 }, (_, n) => n + 1)}]')`,
    )
      .bind(id, '>'.repeat(1000))
      .run()
    const text = await here.see(id)
    expect(text).toContain('and 28 more')
    const size = new TextEncoder().encode(text).byteLength
    expect(size).toBeLessThan(60_000)
  })

  it('that is gone leaves no replay', async () => {
    const event = seedEvent({ connection: here.connection, received_at: Date.now() })
    await insertEvents(here.project, [event])
    const text = await here.see(event.id)
    expect(text).toContain('The payload is no longer stored')
    expect(text).not.toContain('/replay"')
    const page = await visit(`${here.events}/${event.id}/replay`, here.owner.token)
    expect(page.text).toContain('This event cannot be processed again')
    expect(page.text).not.toContain('Replay event</button>')
  })
})

describe('the replay of an event', () => {
  it('says first why it would fail, or why the last attempt did', async () => {
    const ask = async (id: string) => (await visit(`${here.events}/${id}/replay`, here.owner.token)).text
    const hopeless = await ask(await here.send({ ...stripeEvent(), data: null }))
    expect(hopeless).toContain('<p class="warning">It would fail: the payload has no data.object</p>')
    expect(hopeless).not.toContain('its status becomes')
    const body = JSON.stringify(stripeEvent('customer.updated', { id: 'cus_9', object: 'customer' }))
    const curable = await ask(
      await here.put({ status: 'failed', last_error: 'worker_died: 8 workers', last_error_code: 'worker_died' }, body),
    )
    expect(curable).toContain('The last attempt failed: worker_died: 8 workers')
    expect(curable).toContain('its status becomes <span class="badge good">processed')
  })

  it('is confirmed with what it would do, and its result takes the place of its notice', async () => {
    const { owner, events, project } = here
    const id = await here.send(stripeEvent('customer.subscription.updated', { id: 'sub_replayed' }))
    const question = await visit(`${events}/${id}/replay`, owner.token)
    expect(question.text).toContain('Replay this event?')
    expect(question.text).toContain('It would not change the billing state')
    const lost = { bindings: { EVENTS: lossyQueue().EVENTS } }
    const done = await submit(`${events}/${id}/replay`, owner.token, {}, lost)
    expect(done.headers.get('Location')).toBe(`${events}/${id}?replayed=1`)
    const asked = await visit(`${events}/${id}?replayed=1`, owner.token)
    expect(asked.text).toContain('The event will be processed again')
    expect(asked.text).not.toContain(`href="${events}/${id}/replay"`)
    const [, poll] = /hx-get="([^"]+)"/.exec(asked.text.slice(asked.text.indexOf('id="now"'))) ?? []
    const ask = () => visit((poll ?? '').replaceAll('&amp;', '&'), owner.token, { headers: { 'HX-Request': 'true' } })
    expect((await ask()).status).toBe(204)
    // A second request for the run that is on its way waits for the same attempt.
    const again = await submit(`${events}/${id}/replay`, owner.token, {}, lost)
    expect(again.headers.get('Location')).toBe(`${events}/${id}?replayed=1`)
    expect((await visit(`${events}/${id}/replay`, owner.token)).text).toContain('The event is already being processed')

    const replays = await call(`/platform/v1/billing/webhooks/replays`, { token: owner.token, project })
    expect(replays.body.data[0].event_id).toBe(id)
    await STORE.prepare(
      `UPDATE events SET status = 'failed', due_at = NULL, attempts = 2, last_error = 'the payload is not JSON',
        last_error_code = 'payload_invalid' WHERE id = ?`,
    )
      .bind(id)
      .run()
    const result = await ask()
    expect(result.text).toMatch(/^<div id="now">/)
    expect(result.text).toContain('The event was processed again, and failed.')
    expect(result.text).toContain('The last replay failed. The earlier effects of the event stay')
    expect(result.text).not.toContain('will be processed again')
    expect(result.text).not.toContain('aria-label="Payload')
  })
})
