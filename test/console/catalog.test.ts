import { beforeAll, describe, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { type EntitlementWorld, entitlementWorld } from '../entitlements/world'
import { addMember, countingD1, STORE } from '../harness'
import { told } from './member-pages'
import { formToken, submit, visit } from './visit'

const DAYS_30 = (30 * DAY) / 1000

/** One story: each test continues where the previous one ended. */
describe('the catalog in the console', () => {
  let world: EntitlementWorld
  let token: string
  let billing: string
  let plan: string
  beforeAll(async () => {
    world = await entitlementWorld()
    token = world.owner.token
    billing = `/console/p/${world.project}/platform/billing`
    for (const person of ['ada', 'grace']) await world.consumers.put(person)
    await world.deliver(subscription('ada', 'price_pro', 3), subscription('grace', 'price_pro', 1))
    await world.deliver(subscription('else', 'price_addon', 1))
  })
  const words = async (path: string, as = token) =>
    (await visit(path, as)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  const send = (path: string, fields: Record<string, string> = {}) => told(submit(path, token, fields))
  const PRICE = { vendor: 'stripe', ref: 'price_pro' }
  const OF_PLAN = { key: 'pro', name: 'Pro', rank: '1', state: 'active' }
  /** Sends the form of the plan, with the hidden etag of its page. */
  async function edit(fields: Record<string, string>, prices: string[] = [], etag = '') {
    const path = `${billing}/plans/${plan}/edit`
    const { text } = await visit(path, token)
    const now = /name="etag" value="([^"]+)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? ''
    const form = new URLSearchParams({
      form_token: await formToken(token),
      etag: etag || now,
      ...OF_PLAN,
      ...fields,
    })
    for (const [ref, lasts = '', again = ''] of prices.map((one) => one.split(' '))) {
      form.append('vendor', 'stripe')
      form.append('ref', ref ?? '')
      form.append('lasts', lasts)
      form.append('again', again)
    }
    return { etag: now, answer: await visit(path, token, { form }) }
  }
  const said = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

  it('creates features, and says what is wrong with a form', async () => {
    const path = `${billing}/features`
    expect(await words(path)).toContain('No features yet')
    const wrong = await send(path, { key: '1st', name: 'First', type: 'boolean' })
    expect([wrong.status, wrong.wrong[0]]).toEqual([422, expect.stringContaining('begin with a letter')])
    for (const [key, type] of [
      ['sso', 'boolean'],
      ['seats', 'quantity'],
      ['limits', 'config'],
      ['unused', 'boolean'],
    ] as const) {
      const made = await send(path, { key: '', name: key.toUpperCase(), type, combine: 'max' })
      expect(made).toEqual({ status: 303, location: `${path}?done=feature_created`, wrong: [] })
    }
    const again = await send(path, { key: '', name: '1 SSÓ!', type: 'quantity' })
    expect([again.status, again.wrong]).toEqual([409, ['Another feature already has the key sso.']])
    const none = await send(path, { key: '', name: '席', type: 'boolean' })
    expect([none.status, none.wrong[0]]).toEqual([422, wrong.wrong[0]])
    expect((await send(`${path}/seats/edit`, { name: 'Seats', combine: 'sum' })).status).toBe(303)
    expect((await world.catalog.features()).body.data.map(({ key, name, combine }) => [key, name, combine])).toEqual([
      ['limits', 'LIMITS', null],
      ['seats', 'Seats', 'sum'],
      ['sso', 'SSO', null],
      ['unused', 'UNUSED', null],
    ])
  })

  it('names the prices that no plan has, and makes a plan for one: nothing is mapped before the review', async () => {
    const list = await words(`${billing}/plans`)
    expect(list).toMatch(/price_pro .*prod_x.* €19\.00 \/ month Stripe 2 0 Add to plan… price_pro.*price_addon/)
    expect(list).toContain('in the 1,000 subscriptions and 1,000 purchases that changed most recently')
    expect(await words(`${billing}/plans/add?${new URLSearchParams(PRICE)}`)).toContain('There are no plans yet')
    expect(await words(`${billing}/plans/new`)).toMatch(/ None yet Stripe: [^:]*price_pro Stripe: [^:]*price_addon /)
    const asked = (await visit(`${billing}/plans/new?${new URLSearchParams(PRICE)}`, token)).text
    const price = 'vendor=stripe&amp;ref=price_pro'
    expect(asked).toContain(`<option value="${price}" selected="">`)
    const bad = await send(`${billing}/plans`, { ...OF_PLAN, key: 'Pro', 'value.limits': '{' })
    expect([bad.status, bad.wrong]).toEqual([422, ['Must be JSON.']])
    const fields = { ...OF_PLAN, key: '', price: String(new URLSearchParams(PRICE)), 'value.sso': 'true' }
    const made = await send(`${billing}/plans`, fields)
    expect(made.location).toMatch(/\/plans\/pln_\w+\/edit\?vendor=stripe&ref=price_pro&done=plan_created$/)
    plan = /pln_\w+/.exec(made.location ?? '')?.[0] ?? ''
    expect((await world.catalog.get(plan)).body).toMatchObject({
      key: 'pro',
      prices: [],
      features: { sso: { value: true } },
    })
    expect((await visit(made.location ?? '', token)).text).toContain('value="price_pro"')
  })

  it('names a price that only another vendor has mapped', async () => {
    const { body } = await world.catalog.plan({
      key: 'same',
      name: 'Same',
      prices: [{ vendor: 'paddle', ref: 'price_pro' }],
    })
    expect(await words(`${billing}/plans`)).toMatch(/price_pro .*prod_x.* Stripe 2 0 Add to plan…/)
    await world.catalog.change(body.id, { prices: [] })
    await world.catalog.change(body.id, { state: 'archived' })
    // The newest plan comes last, because it is archived.
    expect(await words(`${billing}/plans/add?${new URLSearchParams(PRICE)}`)).toMatch(/ pro active .* same archived/)
  })

  it('reviews a change: who gains, and writes nothing; then saves it', async () => {
    const fields = {
      ...{ 'value.sso': 'true', 'value.seats': '5', 'per_seat.seats': 'true' },
      'value.limits': '{"rows": 10}',
    }
    const { answer } = await edit(fields, ['price_pro', ''])
    const review = said(answer.text)
    expect(answer.status).toBe(200)
    expect(review).toMatch(/Price at Stripe – price_pro/)
    expect(review).toContain('2 consumers would be affected')
    expect(review).toContain('2 consumers gain SSO')
    // Each consumer once, with its external id for want of a name.
    expect(review).toMatch(/ada csm_\w+ LIMITS Seats SSO null 0 off .* 15 on/)
    expect(review).toContain('Save for 2 consumers')
    expect((await world.catalog.get(plan)).body.revision).toBe(1)
    expect((await world.one('ext:ada')).features.sso?.reason).toBe('not_included')
    const saved = await edit({ ...fields, step: 'save' }, ['price_pro'])
    expect(saved.answer.headers.get('Location')).toBe(`${billing}/plans/${plan}?done=plan_changed`)
    expect((await world.one('ext:ada')).features).toMatchObject({
      seats: { value: 15 },
      limits: { value: { rows: 10 } },
    })
    const page = await words(`${billing}/plans/${plan}`)
    const less = said((await edit({ 'value.seats': '3', 'value.limits': '' }, ['price_pro'])).answer.text)
    expect(less).toMatch(/2 consumers get less of Seats 2 consumers lose LIMITS/)
    expect(page).toMatch(/Seats seats 5 per seat.*price_pro €19\.00 \/ month Stripe.*Changed a plan/)
    expect(await words(`${billing}/plans`)).not.toContain('Add to plan… price_pro')
  })

  it('says how long a one-time payment lasts, and keeps it when the plan is edited', async () => {
    const once = 'price_once P1Y beside'
    const { answer } = await edit({}, ['price_pro', once])
    expect(said(answer.text)).toContain('price_once, one-time payments last P1Y, overlapping')
    for (const hidden of ['name="lasts" value="P1Y"', 'name="again" value="beside"'])
      expect(answer.text).toContain(hidden)
    const before = (await world.catalog.get(plan)).body
    const saved = await edit({ 'value.seats': '5', step: 'save' }, ['price_pro', once])
    expect(saved.answer.status).toBe(303)
    const kept = { vendor: 'stripe', ref: 'price_once', lasts: 'P1Y', again: 'beside' }
    expect((await world.catalog.get(plan)).body.prices).toContainEqual(kept)
    const { text } = await visit(`${billing}/plans/${plan}/edit`, token)
    expect(text).toMatch(/name="lasts" value="P1Y"/)
    expect(await words(`${billing}/plans/${plan}`)).toMatch(/price_once – Stripe last P1Y, overlapping/)
    const wrong = await edit({ 'value.seats': '5' }, ['price_pro', 'price_once ever'])
    expect([wrong.answer.status, said(wrong.answer.text)]).toEqual([422, expect.stringContaining('such as P30D')])
    // As it was.
    const { features, prices } = before
    const back = await world.ask('PATCH', `/billing/plans/${plan}`, { json: { features, prices } })
    expect(back.status).toBe(200)
  })

  it('says what is wrong with a value where it is, and keeps what was typed', async () => {
    const { answer } = await edit({ 'value.seats': 'many' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('id="value.seats-wrong"')
    expect(answer.text).toContain('value="many"')
    const back = await edit({ step: 'edit', 'value.seats': '7' })
    expect(back.answer.text).toContain('value="7"')
    const other = (await world.catalog.plan({ key: 'free', name: 'Free' })).body.id
    const form = { form_token: await formToken(token), etag: '"1"', ...OF_PLAN, key: 'free', ...PRICE }
    const review = (ref: string) => visit(`${billing}/plans/${other}/edit`, token, { form: { ...form, ref } })
    expect(said((await review('price_nobody')).text)).toContain('Subscriptions in test mode grant no access')
    const taken = await review(PRICE.ref)
    expect([taken.status, said(taken.text)]).toEqual([409, expect.stringContaining('is mapped to the plan pro')])
  })

  it('tells of a change in between: at the review, at the save, and after going back', async () => {
    const { etag } = await edit({})
    await world.catalog.change(plan, { name: 'Pro 2' })
    for (const step of ['', 'save']) {
      const { answer } = await edit({ step }, ['price_pro'], etag)
      expect([answer.status, said(answer.text)]).toEqual([409, expect.stringContaining('has changed since you opened')])
    }
    const back = (await edit({ step: 'edit' }, [], etag)).answer.text
    expect(back).toContain(`name="etag" value="${etag.replaceAll('"', '&quot;')}"`)
    expect((await world.catalog.get(plan)).body.name).toBe('Pro 2')
  })

  it('names in its history only what each change changed, before and after', async () => {
    const history = async () => (await words(`${billing}/plans/${plan}`)).split(' History ')[1] ?? ''
    expect(await history()).toMatch(
      /Changed a plan Name: Pro → Pro 2 .*Seats: none → 5 per seat.*SSO: off|Created a plan/,
    )
    // The form sends all fields.
    const same = { ...OF_PLAN, 'value.sso': 'true', 'value.seats': '5', 'per_seat.seats': 'true' }
    const renamed = { ...same, 'value.limits': '{"rows": 10}', name: 'Pro 3', step: 'save' }
    expect((await edit(renamed, ['price_pro'])).answer.status).toBe(303)
    expect(await history()).toMatch(/^.{0,120} Changed a plan Name: Pro 2 → Pro 3 just now/)
    const log = await world.ask('GET', `/audit-log?object_id=${plan}&limit=1`)
    expect(log.body).toMatchObject({ data: [{ details: { fields: ['name'] } }] })
    const same90 = 'x'.repeat(90)
    const { features } = (await world.catalog.get(plan)).body
    for (const rows of [1, 2])
      await world.catalog.change(plan, {
        features: { sso: features.sso, limits: { value: { same90, rows } } },
        prices: [PRICE, { vendor: 'stripe', ref: 'price_z' }],
      })
    const [last, before] = (await history()).split('Changed a plan').slice(1)
    expect(last).toMatch(/^ LIMITS: …x+&quot;,&quot;rows&quot;:1} → …x+&quot;,&quot;rows&quot;:2} just/)
    expect(before).toMatch(/^ LIMITS: .* Seats: 5 per seat → none Price at Stripe: none → price_z just/)
    // The page reads ten revisions: the latest ones.
    for (let i = 1; i <= 11; i++) await world.catalog.change(plan, { name: i === 11 ? 'Pro 3' : `Pro 3.${i}` })
    expect(await history()).toMatch(/^.{0,120} Changed a plan Name: Pro 3.10 → Pro 3 just now/)
    await STORE.prepare('DELETE FROM plan_revisions WHERE plan_id = ?').bind(plan).run()
    expect(await history()).toContain('Changed a plan name. The values before and after are not stored.')
    await world.catalog.change(plan, { features, prices: [PRICE] })
  })

  it('deletes a feature that nothing has, and no other', async () => {
    const path = `${billing}/features`
    const without = await visit(`${path}/sso/delete`, token)
    expect(said(without.text)).toMatch(/“SSO” cannot be deleted This plan includes it: Pro 3 \. Remove it there first/)
    expect(without.text).not.toContain('Delete feature</button>')
    expect((await send(`${path}/sso/delete`)).status).toBe(409)
    expect((await send(`${path}/unused/delete`)).location).toBe(`${path}?done=feature_deleted`)
    expect(await words(path)).not.toContain('UNUSED')
  })

  it('shows a viewer everything, and lets them change nothing', async () => {
    const viewer = (await addMember(world.project, 'viewer')).token
    for (const path of ['/plans', `/plans/${plan}`, '/features']) {
      const { status, text } = await visit(billing + path, viewer)
      expect([status, /\/(edit|new|add|delete)["?]/.test(text.replaceAll('projects/new', ''))]).toEqual([200, false])
    }
  })

  it('has a list of plans whose round trips do not grow', async () => {
    const { DB, count } = countingD1()
    await visit(`${billing}/plans`, token, { bindings: { DB } })
    // The session; plans and prices; the frame's projects, their modes.
    expect(count.trips).toBe(4)
  })

  function subscription(consumer: string, price: string, quantity: number) {
    const start = Math.floor(Date.now() / 1000)
    const costs = { unit_amount: 1900, currency: 'eur', recurring: { interval: 'month', interval_count: 1 } }
    const period = { current_period_start: start, current_period_end: start + DAYS_30 }
    const made = stripeSubscription({
      ...{ id: `sub_${consumer}`, customer: `cus_${consumer}`, metadata: { consumer_external_id: consumer } },
      items: {
        object: 'list',
        data: [stripeItem({ price: { id: price, product: 'prod_x', ...costs }, quantity, ...period })],
        has_more: false,
      },
    })
    return { ...stripeEventOf('customer.subscription.updated', made, { at: start }), livemode: true }
  }
})
