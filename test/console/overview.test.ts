import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import {
  addMember,
  call,
  countingD1,
  deliver,
  freshProject,
  inStore,
  mint,
  STORE,
  settled,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { submit, visit } from './visit'

beforeEach(async () => {
  await STORE.prepare(
    "INSERT INTO state (name, value) VALUES ('last_sweep_at', ?1) ON CONFLICT DO UPDATE SET value = ?1",
  )
    .bind(Date.now())
    .run()
})

const start = (project: string) => `/console/p/${project}`
const connections = (project: string) => `${start(project)}/platform/billing/connections`
/** The states of nine steps, of which the first so many are done. */
const doneTo = (done: number) =>
  Array.from({ length: 9 }, (_, at) => (at < done ? 'done' : at === done ? 'current' : 'later'))
/** What each step says about itself. */
const statesIn = (text: string) => [...text.matchAll(/<li class="step (\w+)"/g)].map(([, state]) => state)
/** The path that the steps ask for themselves; null if they no longer do. */
const asking = (text: string) => /id="steps" hx-get="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null
const attentionIn = (text: string) => /aria-labelledby="attention">(.*?)<\/section>/s.exec(text)?.[1] ?? null

/** A project in which everything is set up. */
async function running() {
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project, { name: 'Server' })
  await call('/platform/v1/projects', { token: secret, project })
  const connection = await stripeConnection(owner.token, project)
  const { body } = await deliver(connection.id, stripeEvent())
  await settled(project, owner.token, body.event_ids[0])
  const look = async (token = owner.token) => (await visit(start(project), token)).text
  return { project, owner, key, connection: connection.id, look }
}

describe('the steps of a new project', () => {
  it('turn one after the other, from what is there, until everything is set up', async () => {
    const { project, owner } = await freshProject()
    const look = async () => (await visit(start(project), owner.token)).text
    let text = await look()
    expect(statesIn(text)).toEqual(doneTo(0))
    expect(text).toMatch(/class="button primary" href="[^"]+\/api-keys\/new"/)
    expect(attentionIn(text)).toBeNull()

    /** Nothing changed: 204. Then something does, and the part that is asked for shows it. */
    let said: string | null = null
    const turn = async (act: () => Promise<unknown>) => {
      const at = asking(text) ?? 'none'
      expect((await visit(at, owner.token)).status).toBe(204)
      await act()
      const answer = await visit(at, owner.token)
      expect([answer.status, answer.text.includes('<html')]).toEqual([200, false])
      said = /id="said" hx-swap-oob="innerHTML">(.*?)</.exec(answer.text)?.[1] ?? null
      text = answer.text
      return statesIn(text)
    }
    let secret = ''
    const making = async () => ({ secret } = await mint(owner.token, project))
    expect(await turn(making)).toEqual(doneTo(1))
    expect(said).toBe('The project has an API key.')
    expect(text).toMatch(/<details><summary>Show the first call<\/summary>.*Waiting for the first call/s)

    const made = await submit(connections(project), owner.token, { vendor: 'stripe', name: 'Mine', livemode: 'false' })
    const at = made.headers.get('Location') ?? ''
    const id = at.split('/').at(-1) ?? ''
    text = await look()
    expect(statesIn(text)).toEqual(doneTo(1))
    expect(text).toContain('Finish Mine')
    const entering = () => submit(`${at}/secrets`, owner.token, { signing_secret: 'whsec_0123456789' })
    expect(await turn(entering)).toEqual(doneTo(2))
    const guessing = () => deliver(id, stripeEvent(), { secret: 'whsec_of_another' })
    expect(await turn(guessing)).toEqual(doneTo(2))
    expect(said).toBe('')
    expect(text).toMatch(
      /A delivery from <a [^>]+>Mine<\/a> was refused:<\/strong> <span title="signature_mismatch">the signature/,
    )
    const delivering = async () => {
      const items = { object: 'list', data: [{ id: 'si_1', quantity: 1, price: { id: 'price_of_start' } }] }
      const metadata = { consumer_external_id: 'user_of_start' }
      const event = stripeEvent('customer.subscription.created', { status: 'active', items, metadata })
      const { body } = await deliver(id, event, { secret: 'whsec_0123456789' })
      await settled(project, owner.token, body.event_ids[0])
    }
    // The project works, so only what is missing is shown.
    expect(await turn(delivering)).toEqual(['current', 'later', 'later', 'later', 'later'])
    const put = (path: string, json: object, method = 'PUT') =>
      call(`/platform/v1/${path}`, { method, token: owner.token, project, json })
    expect(await turn(() => put('billing/features/seats', { name: 'Seats', type: 'quantity' }))).toEqual([
      'current',
      'later',
      'later',
      'later',
    ])
    expect(text).toMatch(/href="[^"]+\/plans\/new\?vendor=stripe&amp;ref=price_of_start&amp;from=overview"/)
    const plan = { key: 'team', name: 'Team', features: { seats: { value: 5 } } }
    const created = await put('billing/plans', plan, 'POST')
    text = await look()
    const query = 'vendor=stripe&amp;ref=price_of_start&amp;from=overview'
    expect(text).toContain(`/plans/${created.body.id}/edit?${query}">Add the price</a>`)
    const change = (json: object) => put(`billing/plans/${created.body.id}`, json, 'PATCH')
    await change({ state: 'archived' })
    text = await look()
    expect(text).toContain(`/plans/new?${query}"`)
    const mapping = () => change({ state: 'active', prices: [{ vendor: 'stripe', ref: 'price_of_start' }] })
    expect(await turn(mapping)).toEqual(['current', 'later', 'later'])
    expect(text).toContain('<input type="hidden" name="external_id" value="user_of_start"')
    expect(await turn(() => put('consumers/ext:user_of_start', {}))).toEqual(['current', 'later'])
    expect(text).toContain('See what the consumer is allowed to do')
    const switching = () => put(`projects/${project}`, { settings: { test_mode_counts: true } }, 'PATCH')
    expect(await turn(switching)).toEqual(['current'])
    expect(text).toContain('Waiting for the first call')
    await turn(() => call('/platform/v1/projects', { token: secret, project }))
    expect(text).toContain('Everything is set up.')
    expect(asking(text)).toBeNull()
    expect(statesIn(await look())).toEqual([])
  })

  it('offer only what a role may do', async () => {
    const { project } = await freshProject()
    for (const [role, key, vendor] of [
      ['viewer', false, false],
      ['developer', true, false],
      ['admin', true, true],
    ] as const) {
      const { text } = await visit(start(project), (await addMember(project, role)).token)
      expect([role, text.includes('/api-keys/new"'), text.includes('/connections/new"')]).toEqual([role, key, vendor])
      expect([role, text.includes('Ask a developer'), text.includes('Ask an admin')]).toEqual([role, !key, !vendor])
    }
  })

  it('say that an event failed, with a link to it', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const { body } = await deliver(id, { ...stripeEvent(), data: null })
    await settled(project, owner.token, body.event_ids[0])
    const { text } = await visit(start(project), owner.token)
    expect(text).toMatch(/The event could not be processed\. <a href="[^"]+\?status=failed">See why/)
  })
})

describe('the overview of a project', () => {
  it('says that nothing needs attention, and shows the activity and the connections', async () => {
    const { look, project, connection } = await running()
    const text = await look()
    expect(attentionIn(text)).toContain('Nothing needs attention.')
    expect(text).toContain('Events of the last 24 hours: 1 event received, 0 failed.')
    expect(text).toMatch(/<dt>Received, 24 h<\/dt><dd>1<\/dd>/)
    expect(text).toContain(`href="${connections(project)}/${connection}"`)
  })

  it('adds up 24 hours by hour, of this project only', async () => {
    const { look, project, connection } = await running()
    const insert = (of: string, ago: number, received: number, refused: Record<string, number> = {}) =>
      STORE.prepare('INSERT INTO minutes (project_id, minute, connection_id, received, refused) VALUES (?, ?, ?, ?, ?)')
        .bind(of, Math.floor((Date.now() - ago) / MINUTE), connection, received, JSON.stringify(refused))
        .run()
    await insert(project, 3 * HOUR, 20, { signature_missing: 2, signature_mismatch: 3 })
    await insert(project, 30 * HOUR, 300)
    await insert('prj_of_others', HOUR, 50000)
    const text = await look()
    expect(text).toMatch(/<dt>Received, 24 h<\/dt><dd>21<\/dd>/)
    expect(text).toMatch(/<dt>Refused, 24 h<\/dt><dd>5<\/dd>/)
    expect(text).toMatch(/20 received, 0 failed, 5 refused/)
  })

  it('lists what needs attention, the worst first, each with a link', async () => {
    const { look, project, owner, connection } = await running()
    const links = (text: string) =>
      [...(attentionIn(text) ?? '').matchAll(/<li class="(\w+)"><span>(.*?)<\/span><div><a href="([^"]+)">/gs)].map(
        ([, tone, what, href]) => [tone, what?.replace(/<[^>]+>/g, ''), href?.replace(start(project), '')],
      )
    const { key: CI } = await mint(owner.token, project, {
      name: 'CI',
      expires_at: new Date(Date.now() + 3.4 * DAY).toISOString(),
    })
    await mint(owner.token, project, { name: 'Later', expires_at: new Date(Date.now() + 20 * DAY).toISOString() })
    await deliver(connection, stripeEvent(), { secret: 'whsec_of_another' })
    const { body } = await deliver(connection, { ...stripeEvent(), data: null })
    await settled(project, owner.token, body.event_ids[0])
    await submit(connections(project), owner.token, { vendor: 'paddle', name: 'Half <made>', livemode: 'true' })
    const at = connections(project).replace(start(project), '')
    const found = links(await look())
    expect(found).toEqual([
      [
        'bad',
        '1 event from Stripe failed (received just now). The payload is not a valid event from Stripe.',
        `/platform/billing/webhooks?status=failed&amp;connection_id=${connection}&amp;error_code=payload_invalid`,
      ],
      [
        'warn',
        '1 delivery from Stripe in the last hour was refused: the signature matches no signing secret.',
        `${at}/${connection}#refused`,
      ],
      [
        'warn',
        'Half &lt;made&gt; is not set up yet: it is waiting for its signing secret.',
        expect.stringContaining(at),
      ],
      ['warn', 'The API key CI expires in 3 days.', `/platform/settings/api-keys/${CI.id}`],
    ])
    // A viewer sees the same: there is nothing to press in it.
    expect(links(await look((await addMember(project, 'viewer')).token))).toEqual(found)

    // A muted cause is not among them, but the page says that there is one; the list shows by whom, and unmutes it.
    const [, mute = ''] = /href="([^"]+\/mute)"/.exec(await look()) ?? []
    const wrong = await submit(mute, owner.token, { for: 'date', until: '2026-01-01T10:00' })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringMatching(/must be in the future/i)])
    expect((await submit(mute, owner.token, { for: 'week' })).headers.get('Location')).toContain('done=cause_muted')
    expect(links(await look())).toEqual(found.slice(1))
    expect(attentionIn(await look())).toContain('1 failed event with a muted cause is not listed.')
    const failed = `${start(project)}/platform/billing/webhooks?status=failed`
    const list = async (token = owner.token) => (await visit(failed, token)).text
    expect(await list()).toMatch(new RegExp(`Muted</span> by ${owner.email}. Ends <time[^>]+>in 7 d<`))
    expect(await list((await addMember(project, 'viewer')).token)).not.toContain('Unmute')
    await submit(mute.replace(/mute$/, 'unmute'), owner.token)
    expect(links(await look())).toEqual(found)
    await submit(mute.replace('payload_invalid', 'object_busy'), owner.token, { for: 'open' })
    expect(await list()).toMatch(
      /aria-label="Muted causes without listed events".*object_busy.*until someone unmutes it/s,
    )

    // Refused deliveries of one cause are muted on the page of the connection.
    const [, refusals = ''] = /href="([^"]+\/refusals\/signature_mismatch\/mute)"/.exec(await look()) ?? []
    const done = await submit(refusals, owner.token, { for: 'open' })
    expect(done.headers.get('Location')).toBe(`${start(project)}${at}/${connection}?done=cause_muted`)
    expect(links(await look())).toEqual(found.filter((_, n) => n !== 1))
    expect(attentionIn(await look())).toContain('1 refusal with a muted cause is not listed.')
    const page = async () => (await visit(`${connections(project)}/${connection}`, owner.token)).text
    expect(await page()).toContain(`Muted</span> by ${owner.email}, until someone unmutes it`)
    await submit(refusals.replace(/mute$/, 'unmute'), owner.token)
    expect(links(await look())).toEqual(found)
    expect(await page()).not.toContain('Muted</span>')
  })

  it('says what health finds, in words', async () => {
    const { look } = await running()
    await STORE.prepare("UPDATE state SET value = ? WHERE name = 'last_sweep_at'")
      .bind(Date.now() - HOUR)
      .run()
    expect(attentionIn(await look())).toMatch(
      /<li class="bad"><span>The job that picks up waiting events last ran 60 min ago\..*See health/s,
    )
  })

  it('asks only for what is missing once the project works', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const { body } = await deliver(connection.id, stripeEvent())
    await settled(project, owner.token, body.event_ids[0])
    const { text } = await visit(start(project), owner.token)
    expect(text).toContain('Finish setting up')
    expect(statesIn(text)).toEqual(['current', 'later'])
  })

  it('does not ask for a step again: not after the last API key was revoked', async () => {
    const { look, project, owner, key } = await running()
    await call(`/platform/v1/api-keys/${key.id}`, { method: 'DELETE', token: owner.token, project })
    const text = await look()
    expect(statesIn(text)).toEqual([])
    expect(text).toContain('No active API keys: no server can call the API.')
    const { text: list } = await visit(`${start(project)}/platform/settings/api-keys`, owner.token)
    expect(list).toContain('<h2>No active API keys</h2>')
  })

  it('says of a connection without a secret that it is not set up, until something was sent to it', async () => {
    const { look, project, owner } = await running()
    const made = await submit(connections(project), owner.token, { vendor: 'paddle', name: 'Half', livemode: 'true' })
    const at = made.headers.get('Location') ?? ''
    const status = async () =>
      (await call('/platform/v1/billing/webhooks/health', { token: owner.token, project })).body
    expect(await status()).toMatchObject({ status: 'ok', reasons: [] })
    expect((await visit(at, owner.token)).text).toContain('<span class="badge ">not set up</span>')
    expect(attentionIn(await look())).toContain('<li class="warn"><span>Half is not set up yet')
    const health = (await visit(`${start(project)}/platform/billing/webhooks/health`, owner.token)).text
    expect(health).toMatch(/>Half<\/a><\/td>.{0,200}>not set up</s)
    await deliver(at.split('/').at(-1) ?? '', { event_id: 'evt_1' })
    expect(await status()).toMatchObject({ status: 'degraded' })
    expect(attentionIn(await look())).toContain(
      '<li class="bad"><span>Half has no signing secret, so every delivery is refused. In the last hour: 1.',
    )
  })

  it('is read in one batch, and reads few rows', async () => {
    const { project, owner, connection } = await running()
    // What came before the last 24 hours costs nothing.
    await STORE.prepare(
      `WITH RECURSIVE t(ago) AS (SELECT 0 UNION ALL SELECT ago + 1 FROM t WHERE ago < 200)
       INSERT INTO minutes (project_id, minute, connection_id, received) SELECT ?1, ?2 - ago, ?3, 1 FROM t`,
    )
      .bind(project, Math.floor((Date.now() - 30 * HOUR) / MINUTE), connection)
      .run()
    const { DB, count } = countingD1()
    await visit(start(project), owner.token, { bindings: inStore(DB) })
    // The session, the overview, and what the frame shows: from the directory and the store, side by side.
    expect(count.trips).toBeLessThanOrEqual(4)
    expect(count.rows_read).toBeLessThan(100)
  })
})
