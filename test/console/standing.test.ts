import { beforeAll, describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { addMember, call, deliver, freshProject, STORE, settled, stripeConnection, stripeEvent } from '../harness'
import { visit } from './visit'

/** What the sidebar of a page says: the status, what is counted, and the name of the tab's icon. */
function saidBy(text: string) {
  const countOf = (section: string) =>
    new RegExp(`id="${section}-count" class="count"(?: hx-swap-oob="true")?>([^<]+) <`).exec(text)?.[1] ?? null
  return {
    status: /id="status"[^>]*>(\w+)</.exec(text)?.[1],
    failed: countOf('events'),
    unlinked: countOf('unlinked'),
    icon: /rel="icon" href="\/assets\/([a-z-]+)-\w+\.svg"/.exec(text)?.[1],
  }
}

const UNKNOWN = { status: 'Status', failed: null, unlinked: null, icon: 'icon' }

async function world() {
  const { project, owner } = await freshProject()
  const { token } = owner
  const look = async (cookie = '', path = '/platform/settings/general', of = project) =>
    saidBy(
      (await visit(`/console/p/${of}${path}`, token, { headers: { Cookie: `__Host-session=${token}; ${cookie}` } }))
        .text,
    )
  /** What loads after a page, and the cookie that keeps it. */
  const load = async () => {
    const { status, text, headers } = await visit(`/console/p/${project}/status`, token)
    expect(status).toBe(200)
    const [cookie = '', ...attributes] = (headers.get('Set-Cookie') ?? '').split('; ')
    return { said: saidBy(text), text, cookie, attributes }
  }
  const addCustomers = (n: number) =>
    STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?1)
       INSERT INTO customer_links (project_id, customer, vendor) SELECT ?2, printf('cus_%05d', v), 'stripe' FROM n
       WHERE true ON CONFLICT DO NOTHING`,
    )
      .bind(n, project)
      .run()
  const link = (customer: string, consumer: string | null) =>
    call(`/platform/v1/billing/customers/stripe/${customer}`, { method: 'PUT', token, project, json: { consumer } })
  return { project, token, look, load, addCustomers, link }
}

describe('the sidebar', () => {
  let of: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    of = await world()
    const { id } = await stripeConnection(of.token, of.project)
    const { body } = await deliver(id, { ...stripeEvent(), data: null })
    await settled(of.project, of.token, body.event_ids[0])
    await of.addCustomers(2)
  })

  it('loads the status, the failed events and the customers without a consumer; the next page begins with them', async () => {
    stopClock()
    expect(await of.look()).toEqual(UNKNOWN)
    const { said, text, cookie, attributes } = await of.load()
    expect(said).toMatchObject({ status: expect.stringMatching(/^(Degraded|Failing)$/), failed: '1', unlinked: '2' })
    expect(text).toContain('2 <span class="unseen">without a consumer</span>')
    expect(attributes).toEqual(expect.arrayContaining(['Max-Age=300', 'Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']))
    const icon = `icon-${said.status?.toLowerCase()}`
    expect(await of.look(cookie)).toEqual({ ...said, icon })
    // It still asks for a new one.
    expect(text).toContain('hx-trigger="every 60s"')
    const page = await visit(`/console/p/${of.project}`, of.token, {
      headers: { Cookie: `__Host-session=${of.token}; ${cookie}` },
    })
    expect(page.text).toContain('hx-trigger="load, every 60s"')
  })

  it('forgets them after five minutes', async () => {
    stopClock()
    const { cookie } = await of.load()
    advance(5 * MINUTE)
    expect((await of.look(cookie)).failed).toBe('1')
    advance(1)
    expect(await of.look(cookie)).toEqual(UNKNOWN)
  })

  it('says nothing of them to somebody else in the same browser', async () => {
    const { cookie } = await of.load()
    const { token } = await addMember(of.project, 'owner')
    const headers = { Cookie: `__Host-session=${token}; ${cookie}` }
    expect(saidBy((await visit(`/console/p/${of.project}`, token, { headers })).text)).toEqual(UNKNOWN)
  })

  it('says nothing of them for another project, or from a cookie that is none of ours', async () => {
    const { cookie } = await of.load()
    const other = await call('/platform/v1/projects', { method: 'POST', token: of.token, json: { name: 'Other' } })
    expect(await of.look(cookie, '', other.body.id)).toEqual(UNKNOWN)
    for (const change of [
      (value: string) => value.replace(/\.(degraded|failing)\./, '.constructor.'),
      (value: string) => value.replace(/\d+(%2B)?$/, '%22%3E'),
      (value: string) => `${value}.1`,
      () => '__Host-standing=',
    ])
      expect(await of.look(change(cookie))).toEqual(UNKNOWN)
  })
})

describe('the count of unlinked customers', () => {
  it('leaves out those that are linked, and those that are marked as having no consumer', async () => {
    const { project, token, load, addCustomers, link } = await world()
    const unlinked = async () => (await load()).said.unlinked
    expect(await unlinked()).toBeNull()
    await addCustomers(3)
    expect(await unlinked()).toBe('3')
    await call('/platform/v1/consumers/ext:ada', { method: 'PUT', token, project, json: {} })
    await link('cus_00001', 'ext:ada')
    await link('cus_00002', null)
    expect(await unlinked()).toBe('1')
    await link('cus_00003', 'ext:ada')
    expect(await unlinked()).toBeNull()
  })

  it.each([
    ['up to a bound', 100, 0, '99+'],
    ['as many as the bound', 99, 0, '99'],
    ['among the first two hundred', 250, 190, '10+'],
  ])('%s', async (_, customers, linked, said) => {
    const { project, token, load, look, addCustomers } = await world()
    await addCustomers(customers)
    const { body } = await call('/platform/v1/consumers/ext:ada', { method: 'PUT', token, project, json: {} })
    const link = STORE.prepare('UPDATE customer_links SET pinned = ? WHERE project_id = ? AND customer <= ?')
    await link.bind(body.id, project, `cus_${String(linked).padStart(5, '0')}`).run()
    const { said: loaded, cookie } = await load()
    expect([loaded.unlinked, (await look(cookie)).unlinked]).toEqual([said, said])
  })
})
