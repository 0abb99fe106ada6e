import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR } from '../../src/lib/time'
import { isoOf, stripeEventOf, stripeSubscription } from '../billing/payloads'
import { setClock, stopClock } from '../clock'
import { addMember, STORE } from '../harness'
import { keepHouse, newWorld, settle, type World } from '../inbox/pipeline'
import { visit } from './visit'

const MIDNIGHT = Date.parse('2026-11-27T00:00:00Z')
const TODAY = MIDNIGHT / DAY

beforeEach(() => {
  stopClock(MIDNIGHT - HOUR)
})

/** Days of a project as walks leave them: each has one active subscription more than the one before. */
async function seedDays(project: string, from: number, n: number, without: readonly number[] = [], livemode = 1) {
  const days = Array.from({ length: n }, (_, at) => from + at).filter((day) => !without.includes(day))
  const insert = STORE.prepare(
    `INSERT INTO billing_days (project_id, livemode, day, active, trialing, past_due, created, lost, failed, counted_at)
     VALUES (?, ?, ?, ?, 5, ?, ?, 1, 0, ?)`,
  )
  await STORE.batch(
    days.map((day) => {
      const recent = day >= TODAY - 30
      const active = (livemode === 1 ? 1000 : 700) + day - TODAY
      return insert.bind(project, livemode, day, active, recent ? 2 : 4, recent ? 3 : 2, day * DAY + 18 * HOUR)
    }),
  )
}

const choosing = (token: string, project: string, mode: string) => ({
  Cookie: `__Host-session=${token}; __Host-mode=${mode}.${project}`,
})

/** Subscriptions of nobody's events. */
async function seedSubscriptions({ project }: World, n: number, named = 'seeded', livemode = true) {
  const body = { status: 'active', livemode, created_at: isoOf(MIDNIGHT / 1000) }
  await STORE.prepare(
    `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < ?3)
     INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, status, version, candidates)
     SELECT ?1, 'subscription', ?4 || n, 'stripe', 'active', 1, ?2 FROM t`,
  )
    .bind(project, JSON.stringify([{ body }]), n, named)
    .run()
}

/** What the overview says of subscriptions: each tile as `name: number change`. @param mode what is chosen in the sidebar */
async function tilesOf({ project }: World, mode = 'all') {
  // The session of the day before has ended.
  const { token } = await addMember(project, 'admin')
  const { text } = await visit(`/console/p/${project}`, token, { headers: choosing(token, project, mode) })
  const [, list = ''] = /<dl class="tiles sparks">(.*?)<\/dl>/s.exec(text) ?? []
  const tiles = [...list.matchAll(/<dt>(.*?)<\/dt><dd><a href="[^"]*">(.*?)<\/a>(?:<small>(.*?)<\/small>)?/g)]
  const lines = tiles.map(([, name, value, change]) => `${name}: ${value}${change ? ` ${change}` : ''}`)
  return { text, list, lines, token }
}

const subscription = (created: number, fields = {}) =>
  stripeSubscription({ livemode: true, created: Math.floor(created / 1000), ...fields }) as { id: string }

it('the overview counts the subscriptions of a small project, with the days that the cron has counted, and each number leads to its list', async () => {
  const world = await newWorld()
  const send = async (object: { id: string }) => {
    await world.send({
      ...stripeEventOf('customer.subscription.updated', object, { at: Date.now() / 1000 }),
      livemode: true,
    })
  }
  const [earlier, later] = [subscription(MIDNIGHT - DAY), subscription(MIDNIGHT + HOUR)]
  await world.send(stripeEventOf('invoice.paid', { id: 'in_1', object: 'invoice' }, { at: Date.now() / 1000 }))
  await settle(world)
  expect((await tilesOf(world)).text).not.toContain('Subscriptions</h2>')
  await send(earlier)
  await settle(world)
  const one = (created: number) => [
    'Active: 1',
    'Trialing: 0',
    'Past due: 0',
    'Subscriptions without a consumer: 1',
    `New, so far today: ${created}`,
    'Lost, so far today: 0',
    'Became past due, so far today: 0',
  ]
  const began = await tilesOf(world)
  expect(began.lines).toEqual(one(1))
  expect(began.text).toContain('Counts began on 2026-11-26. There is nothing to compare with yet.')
  setClock(MIDNIGHT)
  expect((await tilesOf(world)).lines).toEqual(one(0))
  await keepHouse()
  expect((await tilesOf(world)).lines).toEqual(one(0))
  setClock(MIDNIGHT + 2 * HOUR)
  await send(later)
  await settle(world)
  setClock(MIDNIGHT + DAY)
  await keepHouse()
  const { lines, list, text, token } = await tilesOf(world)
  expect(lines).toEqual([
    'Active: 2',
    'Trialing: 0',
    'Past due: 0',
    'Subscriptions without a consumer: 2',
    'New, 1 day: 1',
    'Lost, 1 day: 0',
    'Became past due, 1 day: 0',
  ])
  expect(text).toContain('(so far)')
  const links = [...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&') ?? '')
  const bar = links.find((href) => href.includes(`created_after=${isoOf(MIDNIGHT / 1000).slice(0, 19)}`)) ?? ''
  for (const [link, found] of [
    [links[0], [earlier, later]],
    [bar, [later]],
    [links.at(-2), []],
  ] as const) {
    const page = await visit(link ?? '', token)
    expect([link, [earlier, later].filter(({ id }) => page.text.includes(id))]).toEqual([link, found])
  }
})

it.each<[string, number, number[], string[], string | null]>([
  [
    'two months',
    61,
    [],
    [
      'Active: 1,000 30 more than 30 days ago',
      'Trialing: 5 As many as 30 days ago',
      'Past due: 2 As many as 30 days ago',
      'New, 30 days: 90 30 more than in the 30 days before',
      'Lost, 30 days: 30 As many as in the 30 days before',
      'Became past due, 30 days: 0 As many as in the 30 days before',
    ],
    null,
  ],
  [
    'two months without one day',
    61,
    [TODAY - 20],
    [
      'Active: 1,000 30 more than 30 days ago',
      'Trialing: 5 As many as 30 days ago',
      'Past due: 2 As many as 30 days ago',
      'New, 7 days: 21 As many as in the 7 days before',
      'Lost, 7 days: 7 As many as in the 7 days before',
      'Became past due, 7 days: 0 As many as in the 7 days before',
    ],
    'Not every number can be compared with that of 30 days before.',
  ],
  [
    'ten days',
    10,
    [],
    [
      'Active: 1,000 7 more than 7 days ago',
      'Trialing: 5 As many as 7 days ago',
      'Past due: 2 As many as 7 days ago',
      'New, 9 days: 27',
      'Lost, 9 days: 9',
      'Became past due, 9 days: 0',
    ],
    'Counts began on 2026-11-18. Not every number can be compared with that of 30 days before.',
  ],
])('with %s it compares what is known, and guesses nothing', async (_, n, without, lines, unknown) => {
  const world = await newWorld()
  await world.send(
    stripeEventOf('customer.subscription.updated', subscription(MIDNIGHT - DAY), { at: Date.now() / 1000 }),
  )
  await settle(world)
  await seedSubscriptions(world, 500)
  await seedDays(world.project, TODAY - n + 1, n, without)
  setClock(MIDNIGHT + 20 * HOUR)
  const found = await tilesOf(world)
  expect(found.lines).toEqual(lines)
  expect(/Days are in UTC\. (.*?)</.exec(found.text)?.[1] ?? null).toBe(unknown)
  // A line begins with the first known day, and a day that is not known is a gap.
  const path = /<path class="line" d="([^"]*)"/.exec(found.list)?.[1] ?? ''
  expect(path.split(/[ML]/).length - 1).toBe(Math.min(30, n) - without.length)
  expect(path.split('M').length - 1).toBe(1 + without.length)
  expect(new TextEncoder().encode(found.text).byteLength).toBeLessThan(60_000)
  console.log(`The overview: ${new TextEncoder().encode(found.text).byteLength} bytes`)
})

it('a project with more than 500 subscriptions waits for the first count', async () => {
  const world = await newWorld()
  await world.send(stripeEventOf('invoice.paid', { id: 'in_1', object: 'invoice' }, { at: Date.now() / 1000 }))
  await settle(world)
  await seedSubscriptions(world, 500)
  expect((await tilesOf(world)).lines[0]).toBe('Active: 500')
  await seedSubscriptions(world, 1, 'one_more')
  const { lines, text } = await tilesOf(world)
  expect([lines, text]).toEqual([[], expect.stringContaining('The first count is still to come.')])
})

describe('the mode that is chosen in the sidebar', () => {
  async function received() {
    const world = await newWorld()
    await world.send(stripeEventOf('invoice.paid', { id: 'in_1', object: 'invoice' }, { at: Date.now() / 1000 }))
    await settle(world)
    return world
  }
  const shown = async (world: World, mode: string) => {
    const { text, lines, list } = await tilesOf(world, mode)
    const modes = new Set([...list.matchAll(/subscriptions\?livemode=(\w+)/g)].map(([, livemode]) => livemode))
    return [/<h2>(Subscriptions.*?)<\/h2>/.exec(text)?.[1], lines[0], ...modes]
  }

  it('is that of the subscriptions which are counted now', async () => {
    const world = await received()
    await seedSubscriptions(world, 3)
    await seedSubscriptions(world, 2, 'tried', false)
    expect(await shown(world, 'all')).toEqual(['Subscriptions', 'Active: 3', 'true'])
    expect(await shown(world, 'live')).toEqual(['Subscriptions in live mode', 'Active: 3', 'true'])
    expect(await shown(world, 'test')).toEqual(['Subscriptions in test mode', 'Active: 2', 'false'])
  })

  it('is that of the days which the cron has counted', async () => {
    const world = await received()
    await seedSubscriptions(world, 501)
    for (const livemode of [1, 0]) await seedDays(world.project, TODAY - 60, 61, [], livemode)
    setClock(MIDNIGHT + 20 * HOUR)
    expect(await shown(world, 'live')).toEqual([
      'Subscriptions in live mode',
      'Active: 1,000 30 more than 30 days ago',
      'true',
    ])
    expect(await shown(world, 'test')).toEqual([
      'Subscriptions in test mode',
      'Active: 700 30 more than 30 days ago',
      'false',
    ])
  })

  it.each([3, 501])('is said if it has none of %i subscriptions', async (n) => {
    const world = await received()
    await seedSubscriptions(world, n)
    if (n > 500) await seedDays(world.project, TODAY - 60, 61)
    expect(await shown(world, 'test')).toEqual(['Subscriptions in test mode', undefined])
    const { text } = await tilesOf(world, 'test')
    expect(text).toContain('No test subscriptions counted yet.')
    expect(text).not.toContain('The first count is still to come.')
  })
})

describe('paid invoices', () => {
  type Invoice = [at: number, amount: number, said?: { currency?: string; livemode?: boolean; status?: string }]

  /** Invoices of nobody's events, each paid when it last changed. */
  async function seedInvoices(project: string, invoices: readonly Invoice[]) {
    const insert = STORE.prepare(
      `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, status, version, candidates)
       VALUES (?, 'invoice', ?, 'stripe', ?, 1, ?)`,
    )
    await STORE.batch(
      invoices.map(([at, amount_paid, { currency = 'USD', livemode = true, status = 'paid' } = {}]) => {
        const time = new Date(at).toISOString()
        const body = { status, currency, livemode, amount_paid, paid_at: time, updated_at: time }
        return insert.bind(project, `in_${crypto.randomUUID()}`, status, JSON.stringify([{ body }]))
      }),
    )
  }
  /** What the overview says of them. */
  async function paidIn({ project }: World, mode = 'all') {
    const { token } = await addMember(project, 'viewer')
    const { text } = await visit(`/console/p/${project}`, token, { headers: choosing(token, project, mode) })
    const [, part = ''] = /<h2>Paid invoices(.*?)<\/dl>|$/s.exec(text) ?? []
    const tiles = [...part.matchAll(/<dt>(.*?)<\/dt><dd><a href="[^"]*">(.*?)<\/a>(?:<small>(.*?)<\/small>)?/g)]
    return {
      text,
      part,
      tiles: tiles.map(([, name, value, change]) => [name, value, change].filter(Boolean).join(': ')),
    }
  }
  const [NOW, BEFORE] = [MIDNIGHT - 2 * DAY, MIDNIGHT - 40 * DAY]

  it.each<[string, Invoice[], string[]]>([
    ['none', [[NOW, 100, { status: 'open' }]], []],
    ['only before', [[BEFORE, 100]], []],
    ['one, and nothing to compare it with', [[NOW, 4900]], ['Paid in the last 30 days, USD: $49.00']],
    [
      'currencies, the one with the most invoices first',
      [
        [NOW, 100, { currency: 'EUR' }],
        [NOW, 500, { currency: 'JPY' }],
        [NOW, 250, { currency: 'EUR' }],
        [BEFORE, 500, { currency: 'EUR' }],
        [BEFORE, 500, { currency: 'JPY' }],
        [MIDNIGHT - 70 * DAY, 9999, { currency: 'EUR' }],
      ],
      [
        'Paid in the last 30 days, EUR: €3.50: €1.50 less than in the 30 days before',
        'Paid in the last 30 days, JPY: ¥500: As much as in the 30 days before',
      ],
    ],
    [
      'live mode only',
      [
        [NOW, 100],
        [NOW, 200, { livemode: false }],
      ],
      ['Paid in the last 30 days, USD: $1.00'],
    ],
    [
      'test mode, if there is nothing else',
      [[NOW, 200, { livemode: false }]],
      ['Paid in the last 30 days, USD: $2.00'],
    ],
    [
      'too many to compare',
      [...Array.from({ length: 499 }, (): Invoice => [NOW, 1]), [BEFORE, 1], [BEFORE, 1]],
      ['Paid in the last 30 days, USD: $4.99'],
    ],
  ])('are added up: %s', async (_, invoices, said) => {
    const world = await newWorld()
    await world.send(stripeEventOf('customer.created', { id: 'cus_1', object: 'customer' }, { at: Date.now() / 1000 }))
    await settle(world)
    await seedInvoices(world.project, invoices)
    expect((await paidIn(world)).tiles).toEqual(said)
  })

  it('are those of the mode that is chosen in the sidebar', async () => {
    const world = await newWorld()
    await world.send(stripeEventOf('customer.created', { id: 'cus_1', object: 'customer' }, { at: Date.now() / 1000 }))
    await settle(world)
    await seedInvoices(world.project, [
      [NOW, 100],
      [NOW, 200, { livemode: false }],
    ])
    for (const [mode, amount, heading, livemode] of [
      ['all', '$1.00', '</h2>', true],
      ['live', '$1.00', ' in live mode</h2>', true],
      ['test', '$2.00', ' in test mode</h2>', false],
    ] as const) {
      const { part, tiles } = await paidIn(world, mode)
      expect([mode, tiles]).toEqual([mode, [`Paid in the last 30 days, USD: ${amount}`]])
      expect([mode, part.startsWith(heading)]).toEqual([mode, true])
      const links = [...part.matchAll(/href="[^"]*livemode=(\w+)/g)].map(([, of]) => of)
      expect([mode, links]).toEqual([mode, [`${livemode}`, `${livemode}`]])
    }
  })

  it('are not added up in part', async () => {
    const world = await newWorld()
    await world.send(stripeEventOf('customer.created', { id: 'cus_1', object: 'customer' }, { at: Date.now() / 1000 }))
    await settle(world)
    await seedInvoices(
      world.project,
      Array.from({ length: 501 }, (): Invoice => [NOW, 1]),
    )
    const { text, tiles } = await paidIn(world)
    expect([tiles, text]).toEqual([[], expect.stringContaining('Too many invoices have changed')])
  })
})
