import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { stripeEventOf, stripeInvoice, stripePaymentMethod, stripeSubscription } from '../billing/payloads'
import { stripeSession } from '../billing/purchases/payloads'
import { insertConsumer, insertLink } from '../consumers/rows'
import {
  call,
  countingD1,
  deliver,
  freshProject,
  lossyQueue,
  ORIGIN,
  STORE,
  settled,
  stripeConnection,
} from '../harness'
import { formToken, submit, visit } from './visit'

/* A project with connections of both modes. Each object, event and connection has its mode in its id or name. */

const MODES = ['live', 'test'] as const
const idsOf = (mode: string) => ({ customer: 'cus_1', id: `sub_${mode}` })

let project: string
let token: string
let consumer: string
beforeAll(async () => {
  const fresh = await freshProject()
  project = fresh.project
  token = fresh.owner.token
  consumer = await insertConsumer(project, 'ada')
  await insertLink(project, 'cus_1', { pinned: consumer })
  for (const mode of MODES) {
    const livemode = mode === 'live'
    const json = { vendor: 'stripe', name: `Stripe of ${mode}`, livemode, signing_secret: `whsec_${mode}_secret` }
    const { body } = await call('/platform/v1/billing/connections', { method: 'POST', token, project, json })
    const of = { ...idsOf(mode), livemode }
    const events = [
      stripeEventOf('customer.subscription.updated', stripeSubscription(of), { livemode }),
      stripeEventOf('invoice.paid', stripeInvoice({ ...of, id: `in_${mode}` }), { livemode }),
      stripeEventOf('payment_method.attached', stripePaymentMethod({ ...of, id: `pm_${mode}` }), { livemode }),
      stripeEventOf(
        'checkout.session.completed',
        stripeSession({ ...of, id: `cs_${mode}`, payment_intent: `pi_${mode}` }),
        { livemode },
      ),
      stripeEventOf('customer.updated', { id: `cus_${mode}`, object: 'customer' }, { livemode }),
      ...[1, 2].map(() => ({ ...stripeEventOf('broken', {}, { livemode }), data: {} })),
    ]
    await STORE.prepare('INSERT INTO replays (project_id, id, actor, queued, filter) VALUES (?, ?, ?, 0, ?)')
      .bind(project, newId('rpl', Date.now()), 'usr_1', JSON.stringify({ connection_id: [body.id] }))
      .run()
    for (const event of events) {
      const sent = await deliver(body.id, event, { secret: `whsec_${mode}_secret` })
      await settled(project, token, sent.body.event_ids[0])
    }
  }
})

const at = (path: string) => `/console/p/${project}${path}`
/** The rows of a page's lists that say of themselves that they are of a mode. */
async function rowsOf(path: string, headers: Record<string, string> = {}) {
  const { status, text } = await visit(path, token, { headers })
  expect([path, status, text.length < 60_000]).toEqual([path, 200, true])
  const rows = [
    ...text
      .replace(/<details class="menu">.*?<\/details>|<thead>.*?<\/thead>/gs, '')
      .matchAll(/<(tr|li)[ >].*?<\/\1>/gs),
  ].map(([row]) => row)
  const of = (mode: string) => rows.filter((row) => new RegExp(`(_|Stripe of )${mode}\\b`).test(row))
  return { text, live: of('live'), test: of('test') }
}

describe('a row of test mode is marked, and one of live mode is not', () => {
  const LISTS: [path: string, n: number][] = [
    ['/platform/billing/webhooks', 7],
    ['/platform/billing/webhooks?status=failed', 3],
    ['/platform/billing/connections', 1],
    ['/platform/billing/webhooks/replays', 1],
    ['/platform/billing/webhooks/health', 1],
    ['/platform/billing/subscriptions', 1],
    ['/platform/billing/invoices', 1],
    ['/platform/billing/payment-methods', 1],
    ['/platform/billing/purchases', 1],
    ['/platform/changes?types=all', 6],
    ['/platform/consumers/unlinked', 1],
    ['/search?q=sub_', 1],
    ['/search?q=Stripe', 1],
    ['', 2],
  ]
  it.each(LISTS)('%s', async (path, n) => {
    const { live, test } = await rowsOf(at(path))
    expect([live.length, test.length]).toEqual([n, n])
    for (const row of test) expect(row).toContain('<span class="badge test">Test</span>')
    for (const row of live) expect(row).not.toContain('badge test')
  })

  it('what a consumer has', async () => {
    const { live, test } = await rowsOf(at(`/platform/consumers/${consumer}?tab=billing`))
    expect([live.length, test.length]).toEqual([4, 4])
    for (const row of test) expect(row).toContain('badge test')
    for (const row of live) expect(row).not.toContain('badge test')
  })

  it('the results of a search by the API', async () => {
    const { body } = await call('/platform/v1/search?q=in_', { token, project })
    const modes = Object.fromEntries(body.data.map(({ id, livemode }) => [id, livemode]))
    expect(modes).toMatchObject({ in_live: true, in_test: false })
  })
})

describe('the switch in the sidebar', () => {
  const LISTS = ['webhooks', 'subscriptions', 'invoices', 'payment-methods', 'purchases'].map(
    (list) => `/platform/billing/${list}`,
  )
  const chosen = (mode: string, of = project) => ({ Cookie: `__Host-session=${token}; __Host-mode=${mode}.${of}` })
  /** The choice, what the address adds to it, and the modes that the list then shows. */
  const CASES: [choice: string, address: string, shows: string][] = [
    ['all', '', 'live test'],
    ['all', '?livemode=true', 'live'],
    ['all', '?livemode=all', 'live test'],
    ['live', '', 'live'],
    ['test', '', 'test'],
    ['test', '?livemode=true', 'live'],
    ['live', '?livemode=false', 'test'],
    ['test', '?livemode=all', 'live test'],
    // As the form of the list sends it.
    ['test', '?livemode=', 'live test'],
    ['nonsense', '', 'live test'],
  ]
  it.each(LISTS)('filters %s, unless the address has a mode of its own', async (list) => {
    for (const [choice, address, shows] of CASES) {
      const { text, live, test } = await rowsOf(at(list) + address, chosen(choice))
      const found = [live.length > 0 && 'live', test.length > 0 && 'test'].filter(Boolean).join(' ')
      expect([choice, address, found]).toEqual([choice, address, shows])
      const said = /<p class="notice" data-mode="(\w+)">/.exec(text)?.[1]
      expect([choice, address, said]).toEqual([choice, address, shows.includes(' ') ? undefined : shows])
      // A file has what the list shows, whoever opens its address.
      const csv = /href="([^"]*\/csv[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
      const file = await visit(csv, token)
      const column = file.text.split('\r\n')[0]?.split(',').indexOf('livemode') ?? -1
      const modes = new Set(
        file.text
          .trim()
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(',')[column]),
      )
      expect([choice, address, modes.has('true'), modes.has('false')]).toEqual([
        choice,
        address,
        shows.includes('live'),
        shows.includes('test'),
      ])
    }
    const { live, test } = await rowsOf(at(list), chosen('test', 'prj_of_another'))
    expect([live.length > 0, test.length > 0]).toEqual([true, true])
  })

  it('does not hide what an id names, and groups the failures of its mode', async () => {
    const events = '/platform/billing/webhooks'
    const named = await rowsOf(at(`${events}?ref=sub_live`), chosen('test'))
    expect(named.live.filter((row) => row.startsWith('<tr'))).toHaveLength(1)
    const { text, live, test } = await rowsOf(at(`${events}?status=failed`), chosen('test'))
    expect([live.length, test.length, text.includes('By cause')]).toEqual([0, 3, true])
    const next = await rowsOf(at(`${events}?livemode=all`), chosen('test'))
    expect(next.text).toContain('href="?livemode=all&amp;status=failed"')
  })

  it('is named by a list that it leaves empty, unless something else is searched for', async () => {
    const other = await freshProject()
    const page = async (list: string) => {
      const Cookie = `__Host-session=${other.owner.token}; __Host-mode=live.${other.project}`
      const path = `/console/p/${other.project}/platform/billing/${list}`
      return (await visit(path, other.owner.token, { headers: { Cookie } })).text
    }
    expect(await page('subscriptions?livemode=false')).toContain('No subscriptions in test mode.')
    expect(await page('payment-methods?livemode=true')).toContain('No payment methods in live mode.')
    expect(await page('subscriptions?livemode=true&status=active')).toContain('No subscriptions match this search.')
  })

  it('takes no trip more', async () => {
    for (const list of [...LISTS, '']) {
      const trips = []
      for (const choice of ['all', 'live', 'test']) {
        const { DB, count } = countingD1()
        await visit(at(list), token, { headers: chosen(choice), bindings: { EVENTS: lossyQueue().EVENTS, DB } })
        trips.push(count.trips)
      }
      expect([list, trips[1], trips[2]]).toEqual([list, trips[0], trips[0]])
    }
  })

  it('is named by the overview: whose subscriptions it shows, whatever is chosen', async () => {
    for (const [choice, shows] of [
      ['all', 'live'],
      ['live', 'live'],
      ['test', 'test'],
    ] as const) {
      const { text } = await rowsOf(at(''), chosen(choice))
      expect([choice, /<h2>Subscriptions in (\w+) mode<\/h2>/.exec(text)?.[1]]).toEqual([choice, shows])
      expect([choice, text.includes(`/subscriptions?livemode=${shows === 'live'}&amp;status=active`)]).toEqual([
        choice,
        true,
      ])
      expect([choice, text.includes(`/subscriptions?livemode=${shows !== 'live'}`)]).toEqual([choice, false])
    }
  })

  it.each([
    ['', ['Problems', 'Events']],
    ['/platform/billing/connections', ['Connections']],
    ['/platform/changes', ['Changes']],
    ['/platform/consumers/unlinked', ['Customers']],
    ['/platform/billing/plans', ['Subscriptions']],
    ['/platform/billing/webhooks/replays', ['Replays']],
    ['/platform/billing/webhooks/health', ['Events and connections']],
  ])('says while it is set what of both modes %s shows', async (path, what) => {
    for (const choice of ['all', 'live', 'test']) {
      const { text } = await rowsOf(at(path), chosen(choice))
      const said = [...text.matchAll(/>([\w ]+) of both modes are shown\.</g)].map(([, one]) => one)
      expect([choice, said]).toEqual([choice, choice === 'all' ? [] : what])
    }
  })

  it('is a form that keeps the choice, and leads back to the list without a mode of its own', async () => {
    const Referer = `${ORIGIN}${at('/platform/billing/invoices?status=paid&livemode=true&cursor=x')}`
    const fields = { mode: 'test', project }
    const { status, headers } = await submit('/console/mode', token, fields, { headers: { Referer } })
    expect([status, headers.get('Location')]).toEqual([303, at('/platform/billing/invoices?status=paid')])
    const [cookie = '', ...attributes] = (headers.get('Set-Cookie') ?? '').split('; ')
    expect(cookie).toBe(`__Host-mode=test.${project}`)
    expect(attributes).toEqual(expect.arrayContaining(['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']))
    const { text } = await rowsOf(at('/platform/settings/general'), chosen('test'))
    expect(text).toMatch(/value="test" aria-pressed="true"/)
    const wrong = await submit('/console/mode', token, { mode: 'test', project: 'nonsense; x=y' })
    expect([wrong.status, wrong.headers.get('Set-Cookie')]).toEqual([303, null])
  })

  it('is there for a project with connections of both modes only', async () => {
    const other = await freshProject()
    const page = () => visit(`/console/p/${other.project}`, other.owner.token).then(({ text }) => text)
    expect(await page()).not.toContain('/console/mode')
    await stripeConnection(other.owner.token, other.project)
    expect(await page()).not.toContain('/console/mode')
    await stripeConnection(other.owner.token, other.project, undefined, false)
    expect(await page()).toContain('/console/mode')
  })
})

describe('the menu of columns', () => {
  const events = '/platform/billing/webhooks'
  const subscriptions = '/platform/billing/subscriptions'
  /** The columns of a list that can be hidden, the numbers of those that are, and those whose boxes are ticked. */
  async function columnsOf(list: string, cookie = '') {
    const { text } = await visit(at(list), token, { headers: { Cookie: `__Host-session=${token}; ${cookie}` } })
    const boxes = [...text.matchAll(/name="shown" value="([^"]*)"( checked="")?/g)]
    return {
      all: boxes.map(([, head]) => head ?? ''),
      ticked: boxes.flatMap(([, head, checked]) => (checked === undefined ? [] : [head])),
      hidden: /aria-label="(?:Events|Subscriptions)" tabindex="0"(?: data-without="([^"]*)")?/.exec(text)?.[1],
    }
  }

  it('keeps those that were left out, for each list, and leads back', async () => {
    for (const [list, name, without, numbers] of [
      [events, 'events', ['Object', 'Attempts'], '3 6'],
      [subscriptions, 'subscriptions', ['Renews or ends'], '4'],
    ] as const) {
      const { all, ticked, hidden } = await columnsOf(list)
      expect([ticked, hidden]).toEqual([all, undefined])
      const form = new URLSearchParams({ form_token: await formToken(token), list: name })
      for (const head of all) form.append('column', head)
      for (const head of all) if (!without.some((one) => one === head)) form.append('shown', head)
      const Referer = ORIGIN + at(`${list}?status=active`)
      const { status, headers } = await visit('/console/columns', token, { form, headers: { Referer } })
      expect([status, headers.get('Location')]).toEqual([303, at(`${list}?status=active`)])
      const cookie = (headers.get('Set-Cookie') ?? '').split('; ')[0] ?? ''
      expect(cookie).toMatch(new RegExp(`^__Host-without-${name}=`))
      const after = await columnsOf(list, cookie)
      expect([after.hidden, after.ticked.length]).toEqual([numbers, all.length - without.length])
      expect((await columnsOf(list === events ? subscriptions : events, cookie)).hidden).toBe(undefined)
    }
  })

  it('ignores what is no column of the list, and never hides the first', async () => {
    const { hidden } = await columnsOf(events, '__Host-without-events=Type.nonsense.%22%3E.Connection')
    expect(hidden).toBe('5')
    const form = new URLSearchParams({ form_token: await formToken(token), list: '; x=y', column: 'a;b'.repeat(1000) })
    const { status, headers } = await visit('/console/columns', token, { form })
    expect([status, (headers.get('Set-Cookie') ?? '').length < 800]).toEqual([303, true])
  })
})
