import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, iso, MINUTE } from '../../src/lib/time'
import { keysOf, shown } from '../api-keys/world'
import { advance, stopClock } from '../clock'
import { addMember, bound, call, DIRECTORY, fillTable, freshProject, mint, STORE } from '../harness'
import { submit, visit } from './visit'

/* What the pages of API keys show and offer, case by case, and what their forms do. */

let project: string
let owner: Awaited<ReturnType<typeof freshProject>>['owner']
let keys: ReturnType<typeof keysOf>
let at: string
beforeAll(async () => {
  const made = await freshProject()
  project = made.project
  owner = made.owner
  keys = keysOf(project, owner.token)
  at = `/console/p/${project}/platform/settings/api-keys`
})
let now: number
beforeEach(() => {
  now = stopClock()
})

const plain = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const pageOf = async (path: string, token = owner.token) => (await visit(`${at}${path}`, token)).text
const set = (id: string, columns: Record<string, number | string | null>) =>
  STORE.prepare(
    `UPDATE api_keys SET ${Object.keys(columns)
      .map((name) => `${name} = ?`)
      .join()} WHERE id = ?`,
  )
    .bind(...Object.values(columns), id)
    .run()
/** The row of a key in the list. */
async function rowOf(id: string, token = owner.token) {
  const row = (await pageOf('', token)).split('<tr').find((one) => one.includes(`${at}/${id}"`)) ?? ''
  return { html: row, text: plain(row) }
}

describe('the list', () => {
  it.each([
    [0, 'expired'],
    [1, 'expires soon'],
    [14 * DAY, 'expires soon'],
    [14 * DAY + 1, null],
  ])('marks a key that expires in %i ms: %s', async (ms, badge) => {
    const { key } = await keys.make({ scopes: ['billing:read'] })
    await set(key.id, { expires_at: now + ms })
    for (const html of [(await rowOf(key.id)).html, await pageOf(`/${key.id}`)]) {
      expect(/class="badge[^"]*">(expire[^<]*)</.exec(html)?.[1] ?? null).toBe(badge)
    }
    // One that has expired can be revoked and not rotated.
    const { html } = await rowOf(key.id)
    expect([html.includes(`${key.id}/rotate"`), html.includes(`${key.id}/revoke"`)]).toEqual([ms > 0, true])
    expect(plain(await pageOf(`/${key.id}`)).includes(' Expired ')).toBe(ms === 0)
  })

  it('names two scopes, and counts three', async () => {
    const [two, three] = [
      await keys.make({ scopes: ['billing:read', 'consumers:read'] }),
      await keys.make({ scopes: ['billing:read', 'consumers:read', 'catalog:read'] }),
    ]
    expect((await rowOf(two.key.id)).text).toContain('billing:read consumers:read')
    const { text } = await rowOf(three.key.id)
    expect([text.includes('3 scopes'), text.includes('billing:read')]).toEqual([true, false])
  })

  it('calls the scopes of a preset by its name, as the page of the key and the audit log do', async () => {
    const { key } = await keys.make({
      name: 'Preset',
      scopes: ['entitlements:read', 'consumers:write', 'consumers:read'],
    })
    const { key: other } = await keys.make({
      name: 'Other',
      scopes: ['consumers:write', 'consumers:read', 'billing:read'],
    })
    const { text } = await rowOf(key.id)
    expect([text.includes(' Application server '), text.includes('scope')]).toEqual([true, false])
    const logOf = async (id: string) =>
      (await visit(`/console/p/${project}/platform/settings/audit-log?object_id=${id}`, owner.token)).text
    for (const page of [pageOf, (path: string) => logOf(path.slice(1))]) {
      const shown = [await page(`/${key.id}`), await page(`/${other.id}`)]
      expect(shown.map((html) => html.includes('Application server'))).toEqual([true, false])
    }
    expect(await logOf(key.id)).toContain('“Preset”, Application server')
    expect(await logOf(other.id)).toContain('“Other”, 3 scopes')
  })

  it('says who holds the secret where that is not who made the key', async () => {
    const admin = await addMember(project, 'admin')
    const scopes = ['api_keys:write', 'billing:read']
    const [caller, target] = [await keys.make({ name: 'Caller', scopes }), await keys.make({ scopes })]
    const holder = async () => {
      const [, held = null] = /Secret issued to (.*?) (?:Edit|$)/.exec((await rowOf(target.key.id)).text) ?? []
      const [, facts = ''] = /Current secret issued to(.*?)<\/dd>/s.exec(await pageOf(`/${target.key.id}`)) ?? []
      return [held?.trim() ?? null, plain(facts).trim()]
    }
    expect(await holder()).toEqual([null, ''])
    await keys.rotate(target.key.id, {}, admin.token)
    expect(await holder()).toEqual([admin.email, admin.email])
    const { body } = await keys.rotate(target.key.id, {}, caller.secret)
    expect(await holder()).toEqual(['API key “Caller”', 'API key “Caller”'])
    await keys.rotate(target.key.id, {}, body.secret)
    expect(await holder()).toEqual(['the key itself', 'the key itself'])
    await set(target.key.id, { secret_issued_to: 'usr_gone' })
    expect(await holder()).toEqual(['a former member', 'a former member'])
  })

  it('offers to rotate only what the member has all scopes of, and nothing to a viewer', async () => {
    const { key } = await keys.make({ scopes: ['connections:write'] })
    const [developer, viewer] = [await addMember(project, 'developer'), await addMember(project, 'viewer')]
    const offered = async (token: string) =>
      [...(await rowOf(key.id, token)).html.matchAll(/\/(edit|rotate|revoke)"/g)].map(([, verb]) => verb)
    expect(await offered(owner.token)).toEqual(['edit', 'rotate', 'revoke'])
    expect(await offered(developer.token)).toEqual(['edit', 'revoke'])
    expect(await offered(viewer.token)).toEqual([])
    expect((await visit(`${at}/${key.id}/rotate`, developer.token)).status).toBe(403)
  })

  it('has 30 keys on a page, the newest first, and those unused for 90 days on pages of their own', async () => {
    const other = await freshProject()
    const { key } = await mint(other.owner.token, other.project)
    await fillTable('api_keys', other.project, 31)
    const path = `/console/p/${other.project}/platform/settings/api-keys`
    const page = async (query: string) => {
      const { text } = await visit(`${path}${query}`, other.owner.token)
      const next = /href="[^"]*[?&;](cursor=[^"&]+)"/.exec(text)?.[1]
      return { n: text.split('type="checkbox" name="id"').length - 1, next, text }
    }
    const first = await page('')
    expect([first.n, (await page(`?${first.next}`)).n]).toEqual([30, 1])
    expect([first.text.includes(`value="${key.id}"`), first.text.includes('Unused for 90 days')]).toEqual([false, true])
    expect((await page('?unused_days=90')).n).toBe(0)
    await STORE.prepare('UPDATE api_keys SET created_at = ? WHERE project_id = ?')
      .bind(now - 90 * DAY, other.project)
      .run()
    const unused = await page('?unused_days=90')
    expect([unused.n, unused.text.includes('Show all keys')]).toEqual([30, true])
    expect((await page(`?unused_days=90&${unused.next}`)).n).toBe(1)
    await STORE.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?')
      .bind(now - 90 * DAY + 1, key.id)
      .run()
    expect((await page(`?unused_days=90&${unused.next}`)).n).toBe(0)
  })
})

describe('the expiry in a form', () => {
  const options = async (path: string) =>
    [...(await pageOf(path)).matchAll(/<option value="(\w*)"[^>]*>([^<]*)</g)].map(([, value, label]) => [value, label])

  it('offers only what is earlier than now for a key that exists', async () => {
    const all = ['7', '30', '90', '365', 'date']
    expect((await options('/new')).map(([value]) => value)).toEqual(['', ...all])
    const { key } = await keys.make({ scopes: ['billing:read'] })
    expect((await options(`/${key.id}/edit`)).map(([value]) => value)).toEqual(['', ...all])
    for (const [ms, left] of [
      [90 * DAY + 1, ['', '7', '30', '90', 'date']],
      [90 * DAY, ['', '7', '30', 'date']],
      [DAY, ['', 'date']],
    ] as const) {
      await set(key.id, { expires_at: now + ms })
      const offered = await options(`/${key.id}/edit`)
      expect([offered.map(([value]) => value), offered[0]?.[1]]).toEqual([left, 'No change'])
    }
  })

  it.each([
    [{ expires: '' }, null],
    [{ expires: '7' }, 7 * DAY],
    [{ expires: '365' }, 365 * DAY],
    [{ expires: 'date', on: 'TOMORROW' }, 'end of the day'],
    [{ expires: '', on: 'TOMORROW' }, 'end of the day'],
    [{ expires: '7', on: 'TOMORROW' }, 422],
    [{ expires: 'date' }, 422],
    [{ expires: 'date', on: 'x' }, 422],
    [{ expires: '99999' }, 422],
  ] as const)('%j: %s', async (fields, end) => {
    const tomorrow = iso(now + DAY).slice(0, 10)
    const text = await pageOf('/new')
    const once = /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const on = 'on' in fields ? fields.on.replace('TOMORROW', tomorrow) : ''
    const name = `n${JSON.stringify(fields).length}${end}`
    const made = await submit(at, owner.token, { once, name, preset: 'billing', ...fields, on })
    expect(made.status).toBe(end === 422 ? 422 : 201)
    if (end === 422) return
    const { body } = await keys.send('GET', '?limit=100', owner.token)
    const { expires_at } = body.data.find((one: { name: string }) => one.name === name) ?? { expires_at: undefined }
    const ends = { 'end of the day': `${tomorrow}T23:59:59.999Z` } as Record<string, string>
    expect(expires_at).toBe(end === null ? null : (ends[end] ?? iso(now + Number(end))))
  })
})

describe('the page of a key', () => {
  it('shows the last use of each secret apart: of the current one since it is that', async () => {
    const { key, secret } = await keys.make({ scopes: ['billing:read'] })
    await keys.says(secret)
    advance(MINUTE)
    const { body } = await keys.rotate(key.id, { grace_s: 86_400 })
    const used = async () => {
      const [, table = ''] = /<h2>Secrets<\/h2>(.*?)<\/table>/s.exec(await pageOf(`/${key.id}`)) ?? []
      const rows = table.split('<tr').slice(2).map(plain)
      return rows.map((row) => [row.includes(body.key.key_prefix), row.includes('never'), row.includes('replaced')])
    }
    expect(await used()).toEqual([
      [true, true, false],
      [false, false, true],
    ])
    advance(MINUTE)
    await bound.KV.delete(`last_used:${key.id}`) // it expires by the machine's own clock
    await keys.says(body.secret)
    expect(await used()).toEqual([
      [true, false, false],
      [false, false, true],
    ])
    await STORE.prepare('UPDATE api_keys SET revoked_at = 1 WHERE id = ?').bind(key.id).run()
    expect(await used()).toEqual([])
  })

  it('draws the requests of 30 days, with their number in words and as a table', async () => {
    const { key } = await keys.make({ scopes: ['billing:read'] })
    const today = Math.floor(now / DAY)
    const seen = '{"networks":[],"agents":[],"calls":[]}'
    for (const [ago, counts] of [
      [0, { requests: 100, 'refused:not_found': 25, 'op:listPlans': 60, 'op:getPlan': 40 }],
      [1, { requests: 1 }],
      [29, { requests: 50 }],
      [30, { requests: 7_000 }],
    ] as const) {
      await STORE.prepare('INSERT INTO api_key_days (project_id, key_id, day, counts, seen) VALUES (?, ?, ?, ?, ?)')
        .bind(project, key.id, today - ago, JSON.stringify(counts), seen)
        .run()
    }
    const text = await pageOf(`/${key.id}`)
    expect(text).toContain('aria-label="At least 151 requests on 3 days. The busiest day had 100."')
    expect(text).toContain('Busiest day: 100')
    const bars = [...text.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="(\d+)" width="(\d+)" height="(\d+)"/g)]
    expect(bars.filter(([, name]) => name !== 'hit').map(([, ...bar]) => bar)).toEqual([
      ['received', '2', '60', '20', '60'],
      ['received', '674', '118', '20', '2'],
      ['received', '698', '0', '20', '120'],
      ['failed', '698', '90', '20', '30'],
    ])
    expect(bars.filter(([, name]) => name === 'hit')).toHaveLength(30)
    const day = iso(now).slice(0, 10)
    expect(text).toContain(`<title>${day}: 100 requests, 25 refused</title>`)
    const [, table = ''] = /<summary>Show as a table<\/summary>(.*?)<\/table>/s.exec(text) ?? []
    expect(plain(table)).toContain(`${day} 100 25 listPlans`)
  })
})

describe('the forms', () => {
  it('that rotate offer no grace, 5 minutes, an hour and a day, and say that a rotation has begun', async () => {
    const { key } = await keys.make({ scopes: ['billing:read'] })
    const text = await pageOf(`/${key.id}/rotate`)
    const graces = [...text.matchAll(/<option value="(\d+)"( selected)?/g)].map(([, s, on]) => [
      Number(s),
      on !== undefined,
    ])
    expect(graces).toEqual([
      [0, true],
      [300, false],
      [3_600, false],
      [86_400, false],
    ])
    const begun = 'Another rotation is still waiting for its new secret to be used'
    expect(text).not.toContain(begun)
    await keys.rotate(key.id, { when: 'first_use' })
    expect(await pageOf(`/${key.id}/rotate`)).toContain(begun)
  })

  it.each([
    ['key_revoked', {}, 200],
    ['key_revoked', { issued: 'false' }, 200],
    ['keys_revoked', { issued: 'true' }, 'key_revoked'],
  ])('that revoke end other keys only if that is ticked: %s, %j', async (done, fields, other) => {
    const root = await keys.make()
    const leaf = await keys.make()
    const { body } = await keys.rotate(leaf.key.id, {}, root.secret)
    const answer = await submit(`${at}/${root.key.id}/revoke`, owner.token, fields as Record<string, string>)
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, `${at}?done=${done}`])
    expect([await keys.says(root.secret), await keys.says(body.secret)]).toEqual(['key_revoked', other])
  })

  it('that end a secret do so for those who may, and for a live key of the project', async () => {
    const { key, secret } = await keys.make()
    const fresh = (await keys.rotate(key.id, { grace_s: 3600 })).body.secret
    const viewer = await addMember(project, 'viewer')
    const stranger = await freshProject()
    const path = `${at}/${key.id}/end-previous`
    expect((await submit(path, viewer.token)).status).toBe(403)
    expect((await submit(path.replace(project, stranger.project), stranger.owner.token)).status).toBe(404)
    expect([await keys.says(secret), await keys.says(fresh)]).toEqual([200, 200])
    await keys.revoke(key.id)
    for (const which of ['pending', 'previous']) {
      expect((await visit(`${at}/${key.id}/end-${which}`, owner.token)).status).toBe(404)
    }
  })

  it('that change a key offer no network where the address is not known, and send none', async () => {
    const { key } = await keys.make({ scopes: ['billing:read'] })
    const of = (address: string) =>
      visit(`${at}/${key.id}/edit`, owner.token, { headers: { 'CF-Connecting-IP': address } })
    expect((await of('192.0.2.9')).text).toContain('name="network_here" value="192.0.2.9/32"')
    expect((await of('not an address')).text).not.toContain('network_here')
    const fields = {
      name: 'Bounded',
      expires: '',
      allowed_networks: ' 192.0.2.0/24,\n\n2001:db8::/48 ',
      rate_limit: '60',
    }
    expect((await submit(`${at}/${key.id}/edit`, owner.token, fields)).status).toBe(303)
    expect(await keys.read(key.id)).toMatchObject({
      allowed_networks: ['192.0.2.0/24', '2001:db8::/48'],
      rate_limit: { per_minute: 60 },
      expires_at: null,
    })
    for (const rate_limit of ['0', '3001', 'x']) {
      expect((await submit(`${at}/${key.id}/edit`, owner.token, { ...fields, rate_limit })).status).toBe(422)
    }
    expect((await keys.read(key.id)).key_prefix).toMatch(/^svc_v1_/)
  })
})

it('says which scopes are dormant, and that who made the key has left, on its page', async () => {
  const leaver = await addMember(project, 'admin')
  const { key, secret } = await mint(leaver.token, project, { scopes: ['members:write', 'billing:read'] })
  expect(await pageOf(`/${key.id}`)).not.toContain('has no effect now')
  await DIRECTORY.prepare('DELETE FROM members WHERE user_id = ?').bind(leaver.user).run()
  const text = await pageOf(`/${key.id}`)
  expect(text).toMatch(/<code>members:write<\/code> has no effect now/)
  expect([text.includes(leaver.email), text.includes('former member'), text.includes(shown(secret))]).toEqual([
    true,
    true,
    true,
  ])
  await keys.revoke(key.id)
  expect(await pageOf(`/${key.id}`)).not.toContain('has no effect now')
  expect((await call('/platform/v1/api-keys/self', { token: secret, project })).status).toBe(401)
})
