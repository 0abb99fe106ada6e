import { describe, expect, it } from 'vitest'
import { ACTIONS } from '../../src/console/pages/audit-log/words'
import { DAY } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { newApi } from '../devices/devices'
import { newWorld } from '../feed/world'
import { addMember, call, freshProject, mint, newHost, STORE, stripeConnection } from '../harness'
import { visit } from './visit'

/** A project with the calls of its owner, each of which must succeed. */
async function catalogWorld() {
  const { project, owner } = await freshProject()
  const api = async (path: string, method: string, json?: object) => {
    const answer = await call(`/platform/v1/${path}`, { method, token: owner.token, project, ...(json && { json }) })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  const by = (method: string) => (path: string, json: object) => api(path, method, json)
  return { project, owner, api, put: by('PUT'), patch: by('PATCH'), post: by('POST') }
}

describe('the audit log in the console', () => {
  it('shows who changed what, by email address and key name, and filters it', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project, { name: 'Importer <b>' })
    await call(`/platform/v1/api-keys/${key.id}`, {
      method: 'PATCH',
      token: secret,
      project,
      json: { name: 'Now <b>' },
    })
    const path = `/console/p/${project}/platform/settings/audit-log`
    const rowsOf = async (query: string) => {
      const { status, text } = await visit(path + query, owner.token)
      expect([query, status]).toEqual([query, 200])
      return [...text.matchAll(/<code>((?:api_key|project)\.\w+)<\/code>/g)].map(([, action]) => action)
    }
    expect(await rowsOf('')).toEqual(['api_key.updated', 'api_key.minted', 'project.created'])
    expect(await rowsOf(`?actor_id=${key.id}&action=&created_after=`)).toEqual(['api_key.updated'])
    expect(await rowsOf('?action=api_key.*&created_after=2020-01-01T00:00')).toEqual([
      'api_key.updated',
      'api_key.minted',
    ])
    expect(await rowsOf('?created_before=2020-01-01T00:00')).toEqual([])
    const { text } = await visit(path, owner.token)
    expect(text).toContain(
      `API key <a href="/console/p/${project}/platform/settings/api-keys/${key.id}">“Now &lt;b&gt;”</a>`,
    )
    expect(text).toContain(`data-label="Who"><span class="cut">${owner.email}</span>`)
    expect(text).toContain('<span class="quiet">Name:</span> Importer &lt;b&gt; → Now &lt;b&gt;</li>')
    expect(text).toContain('Created the project')
    expect(text).not.toContain('<b>')
  })

  it('says how long what a rotation replaces still works', async () => {
    const { api, project, owner } = await newApi()
    const { key } = await mint(owner.token, project)
    const { device } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    const path = `/platform/v1/api-keys/${key.id}/rotate`
    const ofKey = async (json: object): Promise<string> =>
      (await call(path, { method: 'POST', token: owner.token, project, json })).body.secret
    const ofDevice = async (json: object): Promise<string> => (await api.rotate('ext:u', device.id, json)).body.token
    const made = [
      await ofKey({ grace_s: 7200 }),
      await ofKey({ when: 'first_use', grace_s: 300 }),
      await ofDevice({ grace_s: 60 }),
      await ofDevice({ when: 'first_use', grace_s: 86_400 }),
    ]
    await call('/platform/v1/api-keys/self', { token: made[1] ?? '', project })
    await api.verify(made[3] ?? '')
    const [first, second, third, fourth] = made.map((one) => `${one.slice(0, 11)}…${one.slice(-4)}`)
    const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
    const lines = [...text.matchAll(/<span class="line quiet">((?:new|the rotation)[^<]*)</g)].map(([, line]) => line)
    expect(lines.toSorted()).toEqual(
      [
        `new secret ${first}; the old secret keeps working for 2 h`,
        `new secret ${second}, from its first use; after that, the old secret keeps working for 5 min`,
        `the rotation to ${second} is complete; the old secret keeps working for 5 min`,
        `new token ${third}; the old token keeps working for 1 min`,
        `new token ${fourth}, from its first use; after that, the old token keeps working for 24 h`,
        `the rotation to ${fourth} is complete; the old token keeps working for 24 h`,
      ].toSorted(),
    )
  })

  it('leads to the page of what was changed, if there is one', async () => {
    const { project, owner } = await freshProject()
    const base = `/console/p/${project}/platform`
    const kept = await stripeConnection(owner.token, project)
    const gone = await stripeConnection(owner.token, project)
    const { key } = await mint(owner.token, project, { name: 'Ended' })
    const end = { method: 'DELETE', token: owner.token, project }
    await call(`/platform/v1/billing/connections/${gone.id}`, end)
    await call(`/platform/v1/api-keys/${key.id}`, end)
    const { text } = await visit(`${base}/settings/audit-log`, owner.token)
    const about = [...text.matchAll(/data-label="On">(.*?)<\/td>/g)].map(([, cell]) => cell)
    const revoked = `<a href="${base}/settings/api-keys/${key.id}">Ended</a> <span class="badge bad">revoked</span>`
    const deleted = `<a>Stripe</a> <span class="badge ">deleted</span>`
    expect(about).toEqual([
      revoked,
      deleted,
      revoked,
      deleted,
      `<a href="${base}/billing/connections/${kept.id}">Stripe</a> `,
      `<a href="${base}/settings/general">This project</a>`,
    ])
  })

  it('calls a grant by what it gives and to whom, a device by its consumer, an event by its type and a replay by its events', async () => {
    const { project, owner, token, happens, queue, put, post } = await newWorld()
    const base = `/console/p/${project}/platform`
    const consumer = (await put('consumers/ext:vera', { name: 'Vera Molnár' })).body.id
    await post('billing/plans', { key: 'team', name: 'Team', features: {}, prices: [] })
    const { device } = (await put('consumers/ext:vera/devices/inst_1', { platform: 'server' })).body
    await post('billing/grants', { consumer, effect: 'allow', plan: 'team' })
    const event = await happens('customer.created', { id: 'cus_1', object: 'customer' })
    for (const id of ['cus_1', 'cus_2']) await happens('customer.updated', { id, object: 'customer' })
    await queue.pump()
    await post(`billing/webhooks/${event}/replay`)
    const json = { filter: { event_type: ['customer.updated'] } }
    const replay = await call('/platform/v1/billing/webhooks/replay', { method: 'POST', token, project, json })
    const { text } = await visit(`${base}/settings/audit-log`, owner.token)
    const about = [...text.matchAll(/data-label="On">(.*?)<\/td>/g)].map(([, cell]) => cell)
    expect(about.slice(0, 4)).toEqual([
      `<a href="${base}/billing/webhooks/replays/${replay.body.replay_id}">Replay of 2 events</a>`,
      `<a href="${base}/billing/webhooks/${event}">customer.created</a>`,
      `<a href="${base}/consumers/${consumer}/grants">Team for Vera Molnár</a>`,
      `<a href="${base}/consumers/${consumer}?tab=devices"><span class="line">Vera Molnár</span><code class="id">${device.id}</code></a>`,
    ])
  })

  it('says what a change of a plan or a feature changed, by their names, and leads to them', async () => {
    const { project, owner, put, patch, post, api } = await catalogWorld()
    const base = `/console/p/${project}/platform`
    await put('billing/features/seats', { name: 'Seats <1>', type: 'quantity' })
    await put('billing/features/seats', { name: 'Team seats', type: 'quantity' })
    await put('billing/features/seats', { name: 'Team seats', type: 'quantity', combine: 'sum' })
    await put('billing/features/sso', { name: 'Single sign-on', type: 'boolean' })
    const { id } = await post('billing/plans', { key: 'pro', name: 'Pro', features: {}, prices: [] })
    await patch(`billing/plans/${id}`, { name: 'Professional', features: { seats: { value: 5 } } })
    await patch(`billing/plans/${id}`, { rank: 3 })
    await api('billing/features/sso', 'DELETE')
    type Catalog = { features: object; plans: Record<string, object>; settings: object }
    const { features, plans, settings }: Catalog = await api('billing/catalog', 'GET')
    const renamed = { ...plans, pro: { ...plans.pro, name: 'Pro 2' } }
    await api('billing/catalog', 'PUT', { features, settings, plans: renamed })
    const rowsOf = async (token: string) => {
      const { text } = await visit(`${base}/settings/audit-log`, token)
      const plain = (cell = '') =>
        cell
          .replace(/<[^>]+>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim()
      const cells = [...text.matchAll(/data-label="What">(.*?)<\/td><td data-label="On">(.*?)<\/td>/g)]
      return cells.slice(0, 9).map(([, what, on = '']) => [plain(what), plain(on), /href="([^"]*)"/.exec(on)?.[1]])
    }
    const plan = ['Pro 2 pro', `${base}/billing/plans/${id}`]
    const seats = ['Team seats seats', `${base}/billing/features/seats/edit`]
    const combined = 'If several sources include it: The highest value applies → The values are added up'
    expect(await rowsOf(owner.token)).toEqual([
      ['Changed a plan Name: Professional → Pro 2', ...plan],
      ['Deleted a feature', 'Single sign-on sso deleted', undefined],
      ['Changed a plan Rank: 0 → 3', ...plan],
      ['Changed a plan Name: Pro → Professional Team seats: none → 5', ...plan],
      ['Created a plan Key: pro', ...plan],
      ['Created a feature Type: On or off', 'Single sign-on sso deleted', undefined],
      [`Changed a feature ${combined}`, ...seats],
      ['Changed a feature Name: Seats &lt;1&gt; → Team seats', ...seats],
      ['Created a feature Type: A quantity', ...seats],
    ])
    // What replaced a revision that is no longer kept is named.
    await STORE.prepare('DELETE FROM plan_revisions WHERE plan_id = ? AND revision = 1').bind(id).run()
    expect((await rowsOf(owner.token))[3]?.[0]).toBe('Changed a plan Name, features')
  })

  it('shows each changed field on a line, before and after where the entry says it', async () => {
    const { project, owner, patch, post } = await catalogWorld()
    const { id } = await stripeConnection(owner.token, project)
    await patch(`billing/connections/${id}`, { name: 'Stripe <EU>', status: 'paused' })
    await patch(`billing/connections/${id}`, { name: 'Stripe <EU>', livemode: false })
    await patch(`projects/${project}`, { name: 'Acme' })
    await patch(`projects/${project}`, { settings: { grace_days: 3, max_devices: 5 } })
    const { body } = await call(`/platform/v1/audit-log?action=connection.updated`, { project, token: owner.token })
    expect(body.data.map(({ details }: { details: object }) => details)).toEqual([
      { name: 'Stripe <EU>', livemode: false, before: { name: 'Stripe <EU>', livemode: true } },
      { name: 'Stripe <EU>', status: 'paused', before: { name: 'Stripe', status: 'active' } },
    ])
    const lines = async (n: number) => {
      const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
      const cells = [...text.matchAll(/data-label="What">(.*?)<\/td>/g)].slice(0, n)
      return cells.map(([, cell = '']) =>
        [...cell.matchAll(/<li><span class="quiet">(.*?)<\/span> (.*?)<\/li>/g)].map(([, what, values]) => [
          what,
          values,
        ]),
      )
    }
    const grace = 'Days of access while a subscription is past due:'
    const shown = [
      [
        ['Active devices per consumer:', '100 → 5'],
        [grace, '7 → 3'],
      ],
      [['Name:', 'Test → Acme']],
      [['Mode:', 'Live → Test']],
      [
        ['Name:', 'Stripe → Stripe &lt;EU&gt;'],
        ['Status:', 'Active → Paused'],
      ],
    ]
    expect(await lines(4)).toEqual(shown)
    // Entries of older versions say only the new values.
    await STORE.prepare("UPDATE audit_log SET details = json_remove(details, '$.before') WHERE project_id = ?")
      .bind(project)
      .run()
    const late = shown.map((entry) => entry.map(([what, values = '']) => [what, values.replace(/.* → /, '')]))
    late[2]?.unshift(['Name:', 'Stripe &lt;EU&gt;'])
    expect(await lines(4)).toEqual(late)
    await post('invitations', { email: 'vera@example.com', role: 'viewer' })
    const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
    expect(text).toContain(`/members/invitations">vera@example.com</a>`)
  })

  it('shows the changed fields of an API key and of a single sign-on connection, but no secret', async () => {
    stopClock(Date.now())
    const { project, owner, api, post, ...by } = await catalogWorld()
    // Entries of one millisecond have no order.
    const patch = (path: string, json: object) => {
      advance(1)
      return by.patch(path, json)
    }
    const { key } = await mint(owner.token, project, { name: 'Shop' })
    const [expires_at, rate_limit] = [new Date(Date.now() + DAY).toISOString(), { per_minute: 60 }]
    await patch(`api-keys/${key.id}`, { name: 'Shop', expires_at, rate_limit, allowed_networks: ['192.0.2.0/24'] })
    await patch(`api-keys/${key.id}`, { rate_limit: null, allowed_networks: null })
    const hostname = newHost('plain.dev')
    const domain = await post('domains', { hostname, purpose: 'sso' })
    const client = { issuer: `https://${newHost('plain.dev')}`, client_id: 'rp', auth_method: 'none' }
    const { id } = await post('sso/connections', { audience: 'team', name: 'Acme', ...client })
    const sso = (json: object) => patch(`sso/connections/${id}`, json)
    await sso({ name: 'Acme <ID>', default_role: 'viewer', domain_ids: [domain.id] })
    await sso({ name: 'Acme <ID>', default_role: null, client_secret: 'top secret', auth_method: 'client_secret_post' })
    await sso({ scopes: ['openid'], claims: { email: 'mail', name: 'name' } })
    const { data } = await api('audit-log?action=sso_connection.updated', 'GET')
    expect(JSON.stringify(data)).not.toContain('top secret')
    const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
    const said = [...text.matchAll(/data-label="What">(Changed an? .*?)<\/td>/g)].map(([, cell = '']) =>
      cell.split('<li>').map((part) => part.replace(/<[^>]+>/g, '')),
    )
    const end = expires_at.replace('T', ' ').replace(/\.\d+Z/, ' UTC')
    expect(said).toEqual([
      ['Changed a single sign-on connection', 'Scopes: openid, email, profile → openid', 'Email claim: email → mail'],
      [
        'Changed a single sign-on connection',
        'Role for new members: Viewer → none',
        'Client authentication: None: a public client → Request body (client_secret_post)',
        'Client secret: changed',
      ],
      [
        'Changed a single sign-on connection',
        'Name: Acme → Acme &lt;ID&gt;',
        'Role for new members: none → Viewer',
        `Email domains: none → ${hostname}`,
      ],
      ['Changed an API key', 'Allowed networks: 192.0.2.0/24 → all', 'Requests per minute: 60 → no limit of its own'],
      [
        'Changed an API key',
        'Allowed networks: all → 192.0.2.0/24',
        'Requests per minute: no limit of its own → 60',
        `Expires: never → ${end}`,
      ],
    ])
  })

  it('names domains and single sign-on connections, which the directory holds', async () => {
    const { project, owner } = await freshProject()
    const settings = `/console/p/${project}/platform/settings`
    const api = (path: string, method: string, json?: object) =>
      call(`/platform/v1/${path}`, { method, token: owner.token, project, ...(json && { json }) })
    const hostname = newHost('plain.dev')
    const domain = (await api('domains', 'POST', { hostname, purpose: 'surface' })).body
    const client = { issuer: `https://${newHost('plain.dev')}`, client_id: 'rp', auth_method: 'none' }
    const connection = (await api('sso/connections', 'POST', { audience: 'team', name: 'Acme', ...client })).body
    await api(`sso/connections/${connection.id}`, 'PATCH', { name: 'Acme ID', default_role: 'viewer' })
    const about = async () => {
      const { text } = await visit(`${settings}/audit-log`, owner.token)
      return [...text.matchAll(/data-label="On">(.*?)<\/td>/g)].map(([, cell]) => cell)
    }
    const [known, proven] = [
      `<a href="${settings}/sso/${connection.id}">Acme ID</a> `,
      `${settings}/domains/${domain.id}`,
    ]
    expect(await about()).toEqual([known, known, `<a href="${proven}">${hostname}</a> `, expect.anything()])
    await api(`sso/connections/${connection.id}`, 'DELETE')
    await api(`domains/${domain.id}`, 'DELETE')
    const [gone, ended] = await about()
    expect(gone).toBe(`<a href="${proven}">${hostname}</a> <span class="badge ">deleted</span>`)
    expect(ended).toBe('<a>Acme ID</a> <span class="badge ">deleted</span>')
  })

  it('offers the members and keys to filter by, and keeps what the address asks for', async () => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project, { name: 'Importer' })
    const path = `/console/p/${project}/platform/settings/audit-log`
    const { text } = await visit(`${path}?actor_id=usr_gone&action=api_key.minted`, owner.token)
    const chosen = [...text.matchAll(/<option value="([^"]*)" selected/g)].map(([, value]) => value)
    expect(chosen).toEqual(['usr_gone', 'api_key.minted'])
    for (const [id, name] of [
      [owner.user, owner.email],
      [key.id, 'API key “Importer”'],
    ])
      expect(text).toContain(`<option value="${id}">${name}</option>`)
    const groups = [...text.matchAll(/<optgroup label="([^"]+)">(.*?)<\/optgroup>/gs)].map(
      ([, label, options = '']) => ({
        label,
        actions: [...options.matchAll(/value="([^"*]+)"/g)].map(([, value]) => value),
      }),
    )
    expect(groups.flatMap(({ actions }) => actions).sort()).toEqual(Object.keys(ACTIONS).sort())
    expect(groups.find(({ label }) => label === 'Imports')?.actions).toEqual(['import.started', 'import.canceled'])
    expect(text).toContain('No matching entries')
  })

  it('leads to a webhook endpoint as long as it is there', async () => {
    const { project, owner } = await freshProject()
    const of = { token: owner.token, project }
    const json = { url: 'https://hooks.example.com/a', types: ['plan.*'] }
    const { id } = (await call('/platform/v1/webhook-endpoints', { method: 'POST', ...of, json })).body.endpoint
    const platform = `/console/p/${project}/platform`
    const link = `<a href="${platform}/webhook-endpoints/${id}">https://hooks.example.com/a</a>`
    const log = async () => (await visit(`${platform}/settings/audit-log`, owner.token)).text
    expect(await log()).toContain(link)
    await call(`/platform/v1/webhook-endpoints/${id}`, { method: 'DELETE', ...of })
    expect(await log()).not.toContain(link)
  })

  it('leads to the entries of today and of the last days, with the other filters', async () => {
    stopClock(Date.parse('2026-03-10T15:00:00Z'))
    const { project, owner } = await freshProject()
    const path = `/console/p/${project}/platform/settings/audit-log`
    const linksOf = (text: string) =>
      [...text.matchAll(/<a href="([^"]*)"( aria-current="true")?>(Any time|Today|Last \d+ days)</g)].map(
        ([, href = '', on, label]) => [label, href.replaceAll('&amp;', '&'), on !== undefined] as const,
      )
    const { text } = await visit(`${path}?action=project.*&order=asc`, owner.token)
    const kept = '?action=project.*&order=asc'
    const since = (day: string) => `${kept}&created_after=${day}T00%3A00`
    expect(linksOf(text).map(([label, href, on]) => [label, decodeURIComponent(href), on])).toEqual(
      [
        ['Any time', kept, true],
        ['Today', since('2026-03-10'), false],
        ['Last 7 days', since('2026-03-03'), false],
        ['Last 30 days', since('2026-02-08'), false],
      ].map(([label, href, on]) => [label, decodeURIComponent(String(href)), on]),
    )
    const today = linksOf(text)[1]?.[1] ?? ''
    const shown = await visit(path + today, owner.token)
    expect(linksOf(shown.text).flatMap(([label, , on]) => (on ? [label] : []))).toEqual(['Today'])
    expect(shown.text).toContain('Created the project')
  })

  it('says what is wrong with a filter', async () => {
    const { project, owner } = await freshProject()
    for (const query of ['?action=a*b', '?created_after=soon']) {
      const { status, text } = await visit(`/console/p/${project}/platform/settings/audit-log${query}`, owner.token)
      expect([query, status, text.includes('role="alert"')]).toEqual([query, 422, true])
    }
  })

  it('is in the menu of those who may read it', async () => {
    const { project, owner } = await freshProject()
    const viewer = await addMember(project, 'viewer')
    const menuOf = async (token: string) =>
      (await visit(`/console/p/${project}/platform/settings/api-keys`, token)).text.includes('>Audit log<')
    expect([await menuOf(owner.token), await menuOf(viewer.token)]).toEqual([true, false])
  })
})
