import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_OPEN_COUNTED } from '../../src/inbox/events/limits'
import { countingD1, freshProject, lossyQueue, STORE } from '../harness'
import { insertConnection, insertEvents, type Seed, seedEvent } from '../inbox/seeding'
import { visit } from './visit'

/** A project with some events, and its list. */
async function world() {
  const { project, owner } = await freshProject()
  const stripe = await insertConnection(project, 'stripe')
  const other = await insertConnection(project, 'paddle')
  const list = `/console/p/${project}/platform/billing/webhooks`
  const put = async (fields: Partial<Seed>) => {
    const event = seedEvent({ connection: stripe, received_at: Date.now(), ...fields })
    await insertEvents(project, [event])
    return event.id
  }
  const token = owner.token
  return { project, token, stripe, other, list, put }
}
let here: Awaited<ReturnType<typeof world>>
let own: string
beforeAll(async () => {
  here = await world()
  own = await here.put({ vendor_event_id: 'evt_of_vendor', event_type: 'invoice.paid', refs: ['in_1', 'cus_1'] })
  await here.put({ vendor_event_id: 'evt_twice', event_type: 'price.created' })
  await here.put({ vendor_event_id: 'evt_twice', event_type: 'customer', connection: here.other })
  await here.put({
    event_type: 'customer.created',
    replay_id: 'rpl_1',
    status: 'failed',
    last_error: 'a "timeout" <b>',
  })
  await STORE.prepare("INSERT INTO replays (project_id, id, actor, queued) VALUES (?, 'rpl_1', 'usr_1', 1)")
    .bind(here.project)
    .run()
})

const find = (text: string, rest = '') => visit(`${here.list}?q=${encodeURIComponent(text)}${rest}`, here.token)
const rows = (text: string) => [...text.matchAll(/<tr id="(evt_\w+)"/g)].map(([, id]) => id)

describe('the search box', () => {
  const told: [what: string, text: () => string, place: () => string][] = [
    ['our id of an event', () => own, () => `/${own}`],
    ['the vendor’s id of one event', () => 'evt_of_vendor', () => `/${own}`],
    ['the vendor’s id of two events', () => 'evt_twice', () => '?vendor_event_id=evt_twice'],
    ['the id of an object', () => ' in_1 ', () => '?ref=in_1'],
    ['the id of a customer', () => 'cus_1', () => '?ref=cus_1'],
    ['the id of a connection', () => here.stripe, () => `?connection_id=${here.stripe}`],
    ['the id of a replay', () => 'rpl_1', () => '?replay_id=rpl_1'],
    ['an event type', () => 'invoice.paid', () => '?event_type=invoice.paid'],
    ['a type that others begin with', () => 'customer', () => '?event_type=customer'],
    ['the beginning of a type', () => 'invoice', () => '?event_type=invoice*'],
    ['a pattern', () => 'invoice.*', () => '?event_type=invoice.*'],
    ['a pattern that nothing matches', () => 'subscription.*', () => '?event_type=subscription.*'],
  ]
  it.each(told)('takes %s for what it is', async (_, text, place) => {
    const { status, headers } = await find(text())
    expect([status, decodeURIComponent(headers.get('Location') ?? '')]).toEqual([303, here.list + place()])
  })

  it('keeps the other filters, and says what the text was taken for', async () => {
    const { headers } = await find('in_1', '&status=processed&within=24h&order=&error=')
    const place = headers.get('Location') ?? ''
    expect(place).toBe(`${here.list}?status=processed&within=24h&ref=in_1`)
    const { text } = await visit(place, here.token)
    expect(rows(text)).toEqual([own])
    expect(text).toContain('aria-label="Remove the filter Object ID: in_1"')
    expect(text).toContain('href="?status=processed&amp;within=24h"')
  })

  it.each(['evt_nobody', 'cus_', '<b>', 'x'.repeat(301), 'in_1%', '\u0000'])(
    'says that %s names nothing',
    async (text) => {
      const page = await find(text)
      expect([page.status, rows(page.text)]).toEqual([200, []])
      expect(page.text).toContain('Nothing matches')
      expect(page.text).not.toContain('<b>')
      expect(page.text).not.toContain('/live')
    },
  )

  it('offers to search the errors, where it is long enough', async () => {
    expect((await find('timeout')).text).toContain('href="?error=timeout"')
    expect((await find('ti')).text).not.toContain('Search the errors')
  })

  it('finds nothing of another project', async () => {
    const stranger = await world()
    for (const text of [own, 'evt_of_vendor', 'in_1', here.stripe, 'rpl_1', 'invoice.paid']) {
      const { text: page } = await visit(`${stranger.list}?q=${text}`, stranger.token)
      expect([text, page.includes('Nothing matches')]).toEqual([text, true])
    }
  })

  it('reads a few rows in one round trip of its own', async () => {
    const { DB, count } = countingD1()
    await visit(`${here.list}?q=in_1`, here.token, { bindings: { EVENTS: lossyQueue().EVENTS, DB } })
    expect(count.trips).toBeLessThanOrEqual(2)
    expect(count.rows_read).toBeLessThanOrEqual(12)
  })
})

describe('the filters of the list', () => {
  it('are chips for the statuses, with counts where these are those of the list', async () => {
    const { project, token } = await world()
    const list = `/console/p/${project}/platform/billing/webhooks`
    await STORE.prepare("INSERT INTO totals VALUES (?1, 'processed', 1204), (?1, 'failed', 3)").bind(project).run()
    const connection = await insertConnection(project, 'stripe')
    const open = Array.from({ length: 2 }, () => seedEvent({ connection, received_at: 1, status: 'received' }))
    await insertEvents(project, open)
    const all = (await visit(list, token)).text
    const chip = (status: string, text: string) =>
      new RegExp(`<a id="status-${status}" href="([^"]*)"( aria-current="true")?(?: class="none")?>(.*?)</a>`)
        .exec(text)
        ?.slice(1) ?? []
    expect(chip('processed', all)).toEqual([
      '?status=processed',
      undefined,
      '<span>processed</span><span class="count"> 1,204</span>',
    ])
    expect(chip('failed', all)[2]).toContain(' 3<')
    expect(chip('received', all)[2]).toContain(' 2<')
    expect(chip('ignored', all)[2]).toContain(' 0<')
    const one = (await visit(`${list}?status=failed`, token)).text
    expect(chip('failed', one)).toEqual([
      '?',
      ' aria-current="true"',
      '<span>failed</span><span class="count"> 3</span>',
    ])
    expect(chip('processed', one)[0]).toBe('?status=failed&amp;status=processed')
    expect(chip('all', one)[0]).toBe('?')
    const narrowed = (await visit(`${list}?status=failed&ref=in_1`, token)).text
    expect(chip('failed', narrowed)).toEqual(['?ref=in_1', ' aria-current="true"', '<span>failed</span>'])

    const many = Array.from({ length: MAX_OPEN_COUNTED }, () =>
      seedEvent({ connection, received_at: 2, status: 'queued' }),
    )
    await insertEvents(project, many)
    const { DB, count } = countingD1()
    const crowded = await visit(list, token, { bindings: { EVENTS: lossyQueue().EVENTS, DB } })
    expect(chip('queued', crowded.text)[2]).toMatch(/ [\d,]+\+</)
    expect(count.rows_read).toBeLessThan(2 * MAX_OPEN_COUNTED + 300)

    // Held events have a count of their own: what else is open is counted beside them.
    const held = "UPDATE events SET due_at = 4503599627370496 WHERE project_id = ? AND status = 'queued'"
    await STORE.prepare(held).bind(project).run()
    const paused = (await visit(list, token)).text
    expect(chip('held', paused)[2]).toContain(' 1,000+<')
    expect(chip('queued', paused)[2]).toContain(' 0<')
    expect(chip('received', paused)[2]).toContain(' 2<')
  })

  it('are menus for the connection and the time', async () => {
    const { text } = await visit(`${here.list}?connection_id=${here.other}&within=7d&status=processed`, here.token)
    expect(text).toContain('Connection: paddle')
    expect(text).toContain('Received: last 7 days')
    expect(text).toContain(`href="?status=processed&amp;within=7d&amp;connection_id=${here.stripe}"`)
    expect(text).toContain(`href="?status=processed&amp;connection_id=${here.other}&amp;within=1h"`)
  })

  it('turn a time span into a time, at which all pages of a list and a replay begin', async () => {
    const { project, token, put } = await world()
    const list = `/console/p/${project}/platform/billing/webhooks`
    const now = Date.now()
    await put({ received_at: now - 2 * 3_600_000 })
    for (let i = 0; i < 51; i++) await put({ received_at: now - 60_000 - i })
    const first = (await visit(`${list}?within=1h`, token)).text
    expect(rows(first)).toHaveLength(50)
    const next = (/href="([^"]*cursor=[^"]*)" rel="next"/.exec(first)?.[1] ?? '').replaceAll('&amp;', '&')
    expect(next).toMatch(/^\?received_after=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\dZ&cursor=/)
    expect(rows((await visit(list + next, token)).text)).toHaveLength(1)
    expect(first).toMatch(/webhooks\/replay\?received_after=\d{4}/)
    expect(first).toContain('/live?within=1h')
  })

  it('say what is wrong with them, wherever they stand', async () => {
    const wrong = await visit(`${here.list}?status=lost&min_attempts=x`, here.token)
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('<details open="">')
    expect(wrong.text).toContain('id="min_attempts-wrong"')
    expect(wrong.text).toMatch(/status: /)
  })

  it('find the events of a replay', async () => {
    const { text } = await visit(`${here.list}?replay_id=rpl_1&status=failed`, here.token)
    expect(rows(text)).toHaveLength(1)
    expect(text).toContain('A &quot;timeout&quot; &lt;b&gt;')
  })
})
