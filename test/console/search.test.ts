import { beforeAll, describe, expect, it } from 'vitest'
import { insertObjects } from '../billing/rows'
import { as } from '../consumers/consumers'
import { addMember, STORE } from '../harness'
import { newWorld, type World } from '../routes/world'
import { visit } from './visit'

let world: World
let at: string
beforeAll(async () => {
  world = await newWorld()
  at = `/console/p/${world.project}/search`
  await STORE.prepare("UPDATE consumers SET name = '<b>Bold</b>' WHERE id = ?").bind(world.survivor).run()
})

const search = (q: string, token = world.owner.token) => visit(`${at}?q=${encodeURIComponent(q)}`, token)
/** Where the results lead, and what they say. */
const places = (text: string) =>
  [...text.matchAll(/<li><a href="([^"]+)"><span class="cut">(.*?)<\/span>/g)].map(([, to = '', title = '']) => ({
    to: to.replaceAll('&amp;', '&'),
    title,
  }))

describe('the search of a project', () => {
  const TEXTS: [text: () => string][] = [
    () => '',
    () => 'sample',
    () => 'cus_',
    () => 'sub_sample',
    () => 'in_sample',
    () => 'pm_sample',
    () => 'pi_sample',
    () => 'seats',
    () => 'key',
    () => 'HMAC',
    () => world.event,
    () => world.replay,
    () => world.running,
    () => world.plan,
    () => world.grant,
    () => world.device,
    () => world.key.id,
    () => world.connection.id,
    () => world.endpoint.id,
    () => world.member.user,
    () => world.invitation.id,
    () => world.domain,
    () => world.sso.id,
    () => world.project,
    () => 'create',
    () => 'invite',
    () => 'overdue',
    () => 'failed',
    () => 'past due',
    () => 'refunds',
    () => 'blocked',
    () => 'delete project',
  ].map((text) => [text])

  it.each(TEXTS)('leads to pages that are there: %s', async (text) => {
    const { status, text: page } = await search(text())
    const found = places(page)
    expect([status, found.length > 0]).toEqual([200, true])
    for (const { to, title } of found) {
      const { status: answered } = await visit(to, world.owner.token)
      // An id of an event leads straight to it.
      expect([title, to, [200, 303].includes(answered)]).toEqual([title, to, true])
    }
  })

  it('leads from a device to the devices of its consumer', async () => {
    const devices = `/console/p/${world.project}/platform/consumers/${world.consumer}?tab=devices`
    expect(places((await search(world.device)).text)[0]?.to).toBe(devices)
  })

  it('shows names as they are, and finds them by their first letters', async () => {
    const { text } = await search('<B>bo')
    expect(text).toContain('<span class="cut">&lt;b&gt;Bold&lt;/b&gt;</span>')
    expect(text).not.toContain('<b>Bold')
  })

  it('says of an invoice what it is about, whose it is, and its status in words', async () => {
    await as(world.project, world.owner.token).pin('cus_1', world.survivor)
    await insertObjects(world.project, 'invoice', ['in_of_bold'])
    const { text } = await search('in_of_bold')
    expect(text).toContain('<span class="cut quiet">$12.00 · &lt;b&gt;Bold&lt;/b&gt; · Open</span>')
  })

  it('says that it found nothing', async () => {
    expect((await search('ref_unknown')).text).toContain('Nothing found for “ref_unknown”.')
    expect((await search('sample')).text).not.toContain('Nothing found')
  })

  it.each(['invoice.paid', 'Invoice.pa', 'refund.created', 'transaction'])(
    'leads to the events of the type %s',
    async (text) => {
      const { text: page } = await search(text)
      expect(page).not.toContain('Nothing found')
      const found = places(page).filter(({ to }) => to.includes('/webhooks?'))
      expect(found).toEqual([{ to: expect.stringContaining(`?q=${text}`), title: `Events of type “${text}”` }])
    },
  )

  it('offers the pages and actions that the user may open', async () => {
    const viewer = await addMember(world.project, 'viewer')
    const titles = async (q: string, token: string) => places((await search(q, token)).text).map(({ title }) => title)
    expect(await titles('mint', world.owner.token)).toContain('Create an API key')
    expect(await titles('mint', viewer.token)).not.toContain('Create an API key')
    expect(await titles('audit', viewer.token)).not.toContain('Audit log')
    expect(await titles('retention', viewer.token)).toContain('How long data is kept')
    expect(await titles('time zone', viewer.token)).toContain('Times in UTC or in your time zone')
    expect(await titles('api k', viewer.token)).toContain('API keys')
    expect(await titles('pro', world.owner.token)).not.toContain('Delete this project')
  })

  it.each([
    ['failed', 'Failed events'],
    ['overdue', 'Overdue invoices'],
    ['past due', 'Past due subscriptions'],
    ['trials', 'Trialing subscriptions'],
    ['canceled', 'Canceled subscriptions'],
    ['refunds', 'Refunded purchases'],
    ['chargebacks', 'Disputed purchases'],
    ['blocked consumers', 'Blocked consumers'],
    ['unmapped price', 'Prices without a plan'],
    ['revoke', 'Revoke an API key'],
    ['rotate', 'Rotate an API key'],
    ['merge', 'Merge consumers'],
    ['erase', 'Erase a consumer'],
    ['dark mode', 'Theme'],
    ['log', 'Audit log'],
    ['log out', 'Sign out'],
    ['delete project', 'Delete this project'],
    ['webhook secret', 'Signing secrets'],
    ['rate limit', 'Rate limits'],
  ])('first leads to what %j names', async (q, title) => {
    expect(places((await search(q)).text)[0]?.title).toBe(title)
  })

  it.each([
    ['past due', 'entitlements', 'grace_days'],
    ['grace_days', 'entitlements', 'grace_days'],
    ['Grace period', 'entitlements', 'grace_days'],
    ['2fa', null, 'require_passkey'],
    ['metadata keys', 'consumers', 'consumer_keys'],
    ['dispute', 'purchases', 'dispute_open'],
    ['purchase_rules', 'purchases', 'refunded_part'],
    ['default plan', 'entitlements', 'default_plan'],
    ['passkey', null, 'require_passkey'],
    ['exposed', null, 'on_exposure'],
  ])('finds the setting that %j is about, for those who may change it', async (q, tab, field) => {
    const settings = async (token: string) =>
      places((await search(q, token)).text).filter(({ to }) => /\/general[?#]/.test(to))
    const found = await settings(world.owner.token)
    const at = `/console/p/${world.project}/platform/settings/general`
    expect(found.map(({ to }) => to)).toContain(`${at}${tab === null ? '' : `?tab=${tab}`}#${field}`)
    for (const { to } of found) {
      const [path = '', id] = to.split('#')
      expect((await visit(path, world.owner.token)).text).toContain(` id="${id}"`)
    }
    expect(await settings((await addMember(world.project, 'viewer')).token)).toEqual([])
  })

  it('leads to the events and to the audit log for what has no page of its own', async () => {
    const at = `/console/p/${world.project}/platform`
    expect(places((await search('ref_unknown')).text)).toEqual([
      { to: `${at}/billing/webhooks?q=ref_unknown`, title: 'Search events for “ref_unknown”' },
    ])
    const other = world.device.slice(0, -1) + (world.device.endsWith('0') ? '1' : '0')
    expect(places((await search(other)).text)).toEqual([
      { to: `${at}/settings/audit-log?object_id=${other}`, title: `Changes to ${other}` },
      { to: `${at}/billing/webhooks?q=${other}`, title: `Search events for “${other}”` },
    ])
  })

  it('answers with the results alone while somebody types', async () => {
    const { text } = await visit(`${at}?q=sample`, world.owner.token, {
      headers: { 'HX-Request': 'true', 'HX-Target': 'found' },
    })
    expect(text).toMatch(/^<div id="found" data-for="sample">/)
  })

  it('refuses a secret, which would stay in the history of the browser', async () => {
    const secret = world.secret
    const { status, text } = await search(secret)
    expect([status, places(text)]).toEqual([422, []])
    expect(text).toContain('Looks like a secret')
    expect(text).not.toContain(secret)
  })
})
