import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { addMember, countingD1, freshProject, lossyQueue, mint, ORIGIN, STORE } from '../harness'
import { insertConnection, insertEvents, insertPayload, seedEvent } from '../inbox/seeding'
import { submit, visit } from './visit'

type Replay = {
  actor: string
  event_id?: string
  filter?: Record<string, unknown>
  queued: number
  ended?: [processed: number, ignored: number, failed: number]
}

/** A project with a connection, and a way to put replays there. */
async function world() {
  const { project, owner } = await freshProject()
  const key = await mint(owner.token, project, { name: 'Nightly <job>' })
  const connection = await insertConnection(project, 'stripe')
  const events = `/console/p/${project}/platform/billing/webhooks`
  const put = async ({ actor, event_id, filter, queued, ended }: Replay) => {
    const id = newId('rpl', Date.now())
    await STORE.prepare(
      'INSERT INTO replays (project_id, id, actor, event_id, filter, queued, processed, ignored, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
      .bind(
        ...[project, id, actor, event_id ?? null, filter ? JSON.stringify(filter) : null, queued],
        ...(ended ?? [null, null, null]),
      )
      .run()
    return id
  }
  return { project, owner, key: key.key.id as string, connection, events, replays: `${events}/replays`, put }
}
let here: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  here = await world()
})

/** The row of a replay in the list. */
function rowOf(text: string, id: string): string {
  return new RegExp(`<tr>(?:(?!</tr>).)*id="${id}".*?</tr>`, 's').exec(text)?.[0] ?? ''
}

describe('the list of replays', () => {
  it('says who asked for what, how far it is, and links to how its events ended', async () => {
    const { put, owner, key, connection, events, replays } = here
    const filter = {
      event_type: ['invoice.*', 'customer.created'],
      status: ['failed'],
      connection_id: connection,
      received_after: '2026-05-04T10:00:00Z',
      order: 'desc',
    }
    const many = await put({ actor: key, filter, queued: 1200, ended: [1000, 20, 3] })
    const all = await put({ actor: owner.user, filter: {}, queued: 2, ended: [2, 0, 0] })
    const one = await put({ actor: owner.user, event_id: 'evt_1', queued: 1, ended: [0, 0, 0] })
    const old = await put({ actor: 'key_gone', filter: {}, queued: 5 })
    const { text } = await visit(replays, owner.token)
    const row = rowOf(text, many)
    expect(row).toContain('Nightly &lt;job&gt;')
    for (const words of [
      'Event type: invoice.* or customer.created',
      'Status: failed',
      'Connection: stripe',
      'Received since: 2026-05-04 10:00:00 UTC',
    ]) {
      expect(row).toContain(`<li>${words}</li>`)
    }
    expect(row).not.toContain('Order')
    expect(row).toContain('<progress max="1200" value="1023" aria-label="Done: 1,023 of 1,200">')
    expect(row).toContain(`href="${events}?replay_id=${many}&amp;status=failed">3</a>`)
    expect(row).toContain('data-label="Processed">1,000</td>')
    expect(rowOf(text, all)).toContain('All events')
    expect(rowOf(text, all)).not.toContain('status=failed')
    expect(rowOf(text, all)).toContain(owner.email)
    expect(rowOf(text, one)).toContain(`href="${events}/evt_1"`)
    expect(rowOf(text, old)).toContain('Not counted')
    expect(rowOf(text, old)).toContain('<code>key_gone</code>')
    // Some of them are not done, so the list updates itself; without a script there is a link.
    expect(text).toContain(`hx-get="${replays}"`)
    expect(text).toMatch(/<noscript>.*Reload the page/s)
  })

  it('stays still once all are done, and says how to start one where there is none', async () => {
    const { put, owner, replays } = await world()
    const { text } = await visit(replays, owner.token)
    expect(text).toContain('No replays yet')
    await put({ actor: owner.user, filter: {}, queued: 2, ended: [2, 0, 0] })
    expect((await visit(replays, owner.token)).text).not.toContain(`hx-get="${replays}"`)
  })

  it('is read in few round trips, and below 60 KB with 50 of them', async () => {
    const { put, owner, replays } = await world()
    const filter = { event_type: Array.from({ length: 5 }, (_, n) => `${'<type>'.repeat(4)}${n}`), ref: '&'.repeat(40) }
    for (let i = 0; i < 51; i++) await put({ actor: owner.user, filter, queued: 2000, ended: [1000, 500, 400] })
    const { DB, count } = countingD1()
    const { text } = await visit(replays, owner.token, { bindings: { EVENTS: lossyQueue().EVENTS, DB } })
    expect(count.trips).toBeLessThanOrEqual(6)
    expect(text).toContain('rel="next"')
    expect(text).toContain('…</li>')
    expect(new TextEncoder().encode(text).byteLength).toBeLessThan(60_000)
  })
})

describe('the page of a replay', () => {
  it('updates itself until it is done, and then says what failed and what to do', async () => {
    const { put, owner, events, replays } = here
    const id = await put({ actor: owner.user, filter: { status: ['failed'] }, queued: 5, ended: [2, 1, 0] })
    const at = `${replays}/${id}`
    const running = (await visit(at, owner.token)).text
    expect(running).toContain('3 of 5 events processed again')
    expect(running).toContain(`hx-get="${at}"`)
    expect(running).toContain('Status: failed')
    await STORE.prepare('UPDATE replays SET failed = 2 WHERE id = ?').bind(id).run()
    const done = (await visit(at, owner.token)).text
    expect(done).toContain('5 of 5 events processed again')
    expect(done).not.toContain(`hx-get="${at}"`)
    expect(done).toContain('2 events failed.')
    expect(done).toContain(`href="${events}?replay_id=${id}&amp;status=failed">See why</a>`)
    expect(done).toContain(`href="${events}/replay?replay_id=${id}&amp;status=failed"`)
    const viewer = await addMember(here.project, 'viewer')
    const seen = (await visit(at, viewer.token)).text
    expect(seen).toContain('See why')
    expect(seen).not.toContain('/replay?')
  })

  it('leads from the failures to a replay of those alone', async () => {
    const { project, owner, connection, events, put } = await world()
    const replay = await put({ actor: owner.user, filter: {}, queued: 2, ended: [1, 0, 1] })
    const seeds = (['failed', 'processed', 'failed'] as const).map((status, n) =>
      seedEvent({ connection, received_at: Date.now(), status, replay_id: n < 2 ? replay : null }),
    )
    await insertEvents(project, seeds)
    for (const seed of seeds) await insertPayload(project, seed, '{}')
    const question = await visit(`${events}/replay?replay_id=${replay}&status=failed`, owner.token)
    expect(question.text).toContain('Replay 1 event?')
    expect(question.text).toContain(`Replay: ${replay}`)
    const search = `replay_id=${replay}&status=failed`
    const done = await submit(
      `${events}/replay`,
      owner.token,
      { search },
      { bindings: { EVENTS: lossyQueue().EVENTS } },
    )
    expect(done.headers.get('Location')).toMatch(/\/replays\/rpl_/)
    const state = await STORE.prepare('SELECT status FROM events WHERE project_id = ? ORDER BY id').bind(project).all()
    expect(state.results.map(({ status }) => status).sort()).toEqual(['failed', 'processed', 'queued'])
  })

  it('keeps where to go on', async () => {
    const { put, owner, events, replays } = here
    const id = await put({ actor: owner.user, filter: {}, queued: 1, ended: [1, 0, 0] })
    const { text } = await visit(`${replays}/${id}?status=failed&cursor=abc`, owner.token)
    expect(text).toContain(`href="${events}/replay?status=failed&amp;cursor=abc"`)
  })
})

describe('the replay of events that are chosen in the list', () => {
  it('asks about those alone, says what is skipped, and replays them as one', async () => {
    const { project, owner, connection, events } = await world()
    const other = await world()
    const seeds = (['failed', 'processed', 'queued', 'failed'] as const).map((status) =>
      seedEvent({
        ...{ connection, received_at: Date.now(), status },
        last_error_code: status === 'failed' ? 'payload_invalid' : null,
      }),
    )
    await insertEvents(project, seeds)
    for (const seed of seeds) await insertPayload(project, seed, '{}')
    const foreign = seedEvent({ connection: other.connection, received_at: Date.now(), status: 'failed' })
    await insertEvents(other.project, [foreign])
    const ids = seeds.map(({ id }) => id)
    const list = (await visit(`${events}?status=failed`, owner.token)).text
    expect(list).toContain(`<form action="${events}/replay" class="choosing" autocomplete="off">`)
    const box = /<input type="checkbox" name="id" value="(\w+)"/g
    expect([...list.matchAll(box)].map(([, id]) => id).sort()).toEqual([ids[0], ids[3]].sort())
    expect((await visit(events, (await addMember(project, 'viewer')).token)).text).not.toMatch(
      /name="id"|data-all|choosing/,
    )

    const question = async (query: string) => (await visit(`${events}/replay?${query}`, owner.token)).text
    const vain = 'would fail in the same way'
    expect(await question('status=failed')).not.toContain(vain)
    expect(await question('status=failed&error_code=payload_invalid')).toContain(`All 2 ${vain}`)
    const ticked = async (...which: number[]) => question(which.map((n) => `id=${ids[n]}`).join('&'))
    expect(await ticked(0, 3)).toContain(`All 2 ${vain}`)
    // The one that waits is skipped.
    expect(await ticked(0, 2)).toContain(`It ${vain}`)
    for (const others of [[0, 1], [1], [2]]) expect(await ticked(...others)).not.toContain(vain)
    await STORE.prepare("UPDATE events SET last_error_code = 'internal_error' WHERE id = ?").bind(ids[3]).run()
    expect(await ticked(0, 3)).not.toContain(vain)

    const chosen = new URLSearchParams([...ids.slice(0, 3), foreign.id].map((id) => ['id', id]))
    const { DB, count } = countingD1()
    const headers = { Referer: `${ORIGIN}${events}?status=failed` }
    const ask = await visit(`${events}/replay?id=&source=delivery&${chosen}`, owner.token, {
      headers,
      bindings: { EVENTS: lossyQueue().EVENTS, DB },
    })
    expect(ask.text).toContain('Replay 2 events?')
    expect(ask.text).toMatch(/1 more event\s+is skipped/)
    expect(ask.text).toContain(`<a class="button" href="${events}?status=failed">`)
    expect(count.trips).toBeLessThanOrEqual(6)
    const search = /name="search" value="([^"]*)"/.exec(ask.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const done = await submit(
      `${events}/replay`,
      owner.token,
      { search },
      { bindings: { EVENTS: lossyQueue().EVENTS } },
    )
    const progress = done.headers.get('Location') ?? ''
    expect(progress).toMatch(/\/replays\/rpl_\w+$/)
    expect((await visit(progress, owner.token)).text).toContain('4 chosen events')
    const state = async (of: string) =>
      (await STORE.prepare('SELECT id, status FROM events WHERE project_id = ?').bind(of).all()).results
    expect(new Map((await state(project)).map(({ id, status }) => [id, status]))).toEqual(
      new Map(ids.map((id, n) => [id, n < 3 ? 'queued' : 'failed'])),
    )
    expect((await state(other.project)).map(({ status }) => status)).toEqual(['failed'])
  })

  it('is not that of all events if none is chosen', async () => {
    const { owner, events } = here
    const headers = { Referer: `${ORIGIN}${events}?status=failed` }
    const none = await visit(`${events}/replay?id=&source=delivery`, owner.token, { headers })
    expect(none.headers.get('Location')).toBe(`${events}?status=failed&done=no_event_chosen`)
  })

  it('is a filter of the list too, whatever the mode that was chosen', async () => {
    const { project, owner, connection, events } = await world()
    const seeds = [1, 2, 3].map(() => seedEvent({ connection, received_at: Date.now(), status: 'failed' }))
    await insertEvents(project, seeds)
    const [one, two] = seeds.map(({ id }) => id)
    const cookie = `__Host-session=${owner.token}; __Host-mode=test.${project}`
    const { text } = await visit(`${events}?id=${one}&id=${two}`, owner.token, { headers: { Cookie: cookie } })
    expect([...text.matchAll(/<tr id="(evt_\w+)"/g)].map(([, id]) => id).sort()).toEqual([one, two].sort())
    expect(text).toContain('aria-label="Remove the filter 2 chosen events"')
    expect(text).toContain(`href="${events}/replay?id=${one}&amp;id=${two}"`)
  })
})
