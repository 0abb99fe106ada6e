import { beforeAll, describe, expect, it } from 'vitest'
import { DAY, iso } from '../../src/lib/time'
import { stripeEventOf, stripeInvoice, stripeItem, stripeSubscription } from '../billing/payloads'
import { type EntitlementWorld, entitlementWorld, sellPlans } from '../entitlements/world'
import { addMember, call, countingD1 } from '../harness'
import { told } from './member-pages'
import { submit, visit } from './visit'

/** One story: each test continues where the previous one ended. */
describe('what a consumer may do, in the console', () => {
  let world: EntitlementWorld
  let token: string
  let here: string
  let ada: string
  let event: string | undefined
  beforeAll(async () => {
    world = await entitlementWorld()
    token = world.owner.token
    await sellPlans(world)
    ada = (await world.consumers.put('ada')).body.id
    here = `/console/p/${world.project}/platform/consumers/${ada}`
    const start = Math.floor(Date.now() / 1000)
    const period = { current_period_start: start, current_period_end: start + (30 * DAY) / 1000 }
    const items = ['price_pro', 'price_none'].map((price) =>
      stripeItem({
        id: `si_${price}`,
        price: { id: price, product: `prod_${price}`, nickname: price === 'price_pro' ? 'Pro, monthly' : null },
        quantity: 3,
        ...period,
      }),
    )
    const made = stripeSubscription({
      ...{ id: 'sub_1', customer: 'cus_ada', metadata: { consumer_external_id: 'ada' } },
      items: { object: 'list', data: items, has_more: false },
    })
    ;[event] = await world.deliver({
      ...stripeEventOf('customer.subscription.updated', made, { at: start }),
      livemode: true,
    })
  })
  const page = async (path = '', as = token) => (await visit(here + path, as)).text
  const words = async (path = '') => (await page(path)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  const send = (path: string, fields: Record<string, string> = {}) => told(submit(here + path, token, fields))
  const done = (notice: string) => ({ status: 303, location: `${here}?done=${notice}`, wrong: [] })

  it('is on its page: why, until when, and by which event, with no more round trips', async () => {
    const text = await words()
    expect(text).toMatch(/Plan Pro Access \d of \d features Subscription active/)
    expect(text).toMatch(/As of \d{4}-\d\d-\d\d/)
    expect(text).toMatch(/Seats seats allowed 3 Included in Pro 1 source Pro Stripe subscription sub_1/)
    const without = (await world.consumers.put('nobody')).body.id
    const theirs = (await visit(here.replace(ada, without), token)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    expect(theirs).toMatch(/Not allowed: \w+ Plans that include it: (Pro|Starter)/)
    expect(theirs).toMatch(
      /sso sso not allowed – No subscription or purchase grants access Plans that include it: Pro –/,
    )
    expect(text).toContain('For example: Allowed: Projects (unlimited)')
    expect(text).toContain('Where a subscription renews, Until is 48 hours after its period ends')
    expect(text).toContain('Pro Stripe subscription sub_1 Pro, monthly price_pro , 3 seats')
    expect(text).toContain(`from customer.subscription.updated ${event}`)
    expect(text).toMatch(/price_none is not mapped to a plan\. Add it to a plan/)
    expect(await page()).toContain(`/webhooks/${event}"`)
    for (const all of [await words('/entitlements'), await words(`/entitlements?at=${new Date().toISOString()}`)]) {
      expect(all).toMatch(/Entitlements of ada .* Seats seats allowed 3/)
      expect(all).toContain('Pro Stripe subscription sub_1 Pro, monthly price_pro , 3 seats')
      expect(all).toContain(`from customer.subscription.updated ${event}`)
    }
    const { DB, count } = countingD1()
    await visit(here, token, { bindings: { DB } })
    expect(count.trips).toBe(5)
  })

  it('does not name an archived plan among those that include a feature', async () => {
    await world.catalog.plan({ key: 'old', name: 'Old', state: 'archived', features: { sso: { value: true } } })
    const theirs = await visit(here.replace(ada, (await world.consumers.put('nobody')).body.id), token)
    expect(theirs.text).toContain('Plans that include it')
    expect(theirs.text).not.toContain('>Old<')
  })

  it('is in the file of the list of consumers: plans that are paid for and granted, and the subscription', async () => {
    await world.consumers.put('given')
    for (const plan of ['starter', 'pro']) await world.grant({ consumer: 'ext:given', effect: 'allow', plan })
    const { text } = await visit(`/console/p/${world.project}/platform/consumers/csv`, token)
    const [head = '', ...lines] = text.split('\r\n')
    const columns = ['plans', 'granted_plans', 'subscription_status', 'subscription_livemode']
    expect(head.split(',').slice(-4)).toEqual(columns)
    const rowOf = (id: string) => lines.find((line) => line.split(',')[1] === id)?.replace(/^.*Z,/, '')
    expect([rowOf('ada'), rowOf('given'), rowOf('nobody')]).toEqual([
      'Pro,,active,true',
      expect.stringMatching(/^,"(Pro, Starter|Starter, Pro)",,$/),
      ',,,',
    ])
  })

  it('names the plan of a subscription that gives no access, and an invoice that is overdue', async () => {
    const { id } = (await world.consumers.put('late')).body
    const owned = { customer: 'cus_late', metadata: { consumer_external_id: 'late' } }
    const item = stripeItem({ id: 'si_late', price: { id: 'price_pro', product: 'prod_pro' }, quantity: 1 })
    const items = { object: 'list', data: [item], has_more: false }
    const unpaid = stripeSubscription({ ...owned, id: 'sub_late', status: 'unpaid', items })
    const due_date = Math.floor((Date.now() - DAY) / 1000)
    const invoice = stripeInvoice({ id: 'in_late', customer: 'cus_late', status: 'open', total: 900, due_date })
    await world.deliver(
      { ...stripeEventOf('customer.subscription.updated', unpaid), livemode: true },
      { ...stripeEventOf('invoice.updated', invoice), livemode: true },
    )
    const theirs = (await visit(here.replace(ada, id), token)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    expect(theirs).toMatch(/Plan Pro No access Access 0 of \d features Subscription unpaid/)
    expect(theirs).toMatch(/Last invoice \S+ overdue/)
  })

  it('can be seen as of another time, with what is not known of it', async () => {
    const at = (time: number) => words(`/entitlements?at=${iso(time).slice(0, 16)}`)
    expect(await at(Date.now())).toMatch(/exactly what applied|may have been different/)
    expect(await at(Date.now() - DAY)).toContain('The catalog had no features')
    expect(await at(Date.now() + DAY)).toMatch(
      /Entitlements of ada .*what applies at that time if nothing happens.* Seats seats allowed 3/,
    )
    for (const wrong of [iso(Date.now() + 401 * DAY), 'nonsense']) {
      const { status, text } = await visit(`${here}/entitlements?at=${wrong}`, token)
      expect([status, text]).toEqual([422, expect.stringContaining('Must be at most 400 days ago, or as many ahead')])
    }
  })

  it('changes with grants, which are explained, and end when they are revoked', async () => {
    expect((await page('/grants/new')).match(/<option/g)?.length).toBeGreaterThan(8)
    expect(await send('/grants', { does: 'feature', feature: 'seats', value: '10', reason: 'pilot' })).toEqual(
      done('grant_created'),
    )
    expect(await send('/grants', { does: 'deny', feature: 'sso', value: 'ignored', plan: 'pro' })).toEqual(
      done('grant_created'),
    )
    const until = iso(Date.now() + DAY).slice(0, 16)
    expect(
      await send('/grants', { does: 'plan', plan: 'starter', feature: 'sso', lasts: 'date', expires_at: until }),
    ).toEqual(done('grant_created'))
    const { features } = await world.one('ext:ada')
    expect([features.seats?.value, features.sso?.reason]).toEqual([10, 'denied'])
    const text = await words()
    expect(text).toMatch(/Seats seats allowed 10 Included in a grant 3 sources/)
    expect(text).toMatch(/sso sso not allowed – A grant denies it/)
    expect(text).toContain('No access: the feature is denied to the consumer.')
    expect(text).toMatch(/Denies sso sso active/)
    expect(text).toMatch(/Grants the plan Starter starter active/)
    expect(text).toMatch(/Grants Seats : 10 seats active .{0,30} No end \S+@\S+ pilot/)
    expect(await words('?tab=history')).toMatch(
      / Created a grant Starter .* Created a grant Denied sso .* Created a grant Seats: 10 /,
    )
    const id = /grants\/(grt_\w+)\/revoke/.exec(/Denies.*?<\/tr>/s.exec(await page())?.[0] ?? '')?.[1]
    expect(await words(`/grants/${id}/revoke`)).toContain('Revoke “no sso”?')
    expect(await send(`/grants/${id}/revoke`)).toEqual(done('grant_revoked'))
    expect((await world.one('ext:ada')).features.sso?.reason).toBe('plan')
    expect(await words('/grants')).toMatch(/Denies sso sso revoked/)
  })

  it('is on until the last of its sources ends', async () => {
    const end = async () => {
      const [row = ''] = (await page()).match(/<code class="line quiet">sso<\/code>.*?<\/tr>/s) ?? []
      return row.slice(row.lastIndexOf('<td')).replace(/<[^>]+>/g, '')
    }
    expect(await end()).toMatch(/^\d{4}-/)
    expect(await send('/grants', { does: 'plan', plan: 'pro' })).toEqual(done('grant_created'))
    expect(await end()).toBe('–')
  })

  it.each([
    ['30', '', 30],
    ['365', '2099-01-01T00:00', 365],
    ['11', '', null],
    ['', '', null],
  ])('lasts %s days from its start (%j)', async (lasts, starts_at, days) => {
    const sent = Date.now()
    await send('/grants', { does: 'deny', feature: 'limits', lasts, starts_at })
    const { body } = await call('/platform/v1/billing/grants?consumer=ext:ada&limit=1', {
      token,
      project: world.project,
    })
    const [{ id, expires_at }] = body.data
    await send(`/grants/${id}/revoke`)
    const since = starts_at === '' ? sent : Date.parse(`${starts_at}Z`)
    expect(expires_at === null ? null : Math.round((Date.parse(expires_at) - since) / DAY)).toBe(days)
  })

  it.each([
    [{ does: 'feature', feature: '' }, 422, 'Must be selected.'],
    [{ does: 'plan', plan: '', feature: 'sso' }, 422, 'Must be selected.'],
    [{ does: 'feature', feature: 'seats' }, 422, 'Is required.'],
    [{ does: 'feature', feature: 'seats', value: '-1' }, 422, 'Must be a whole number'],
    [{ does: 'feature', feature: 'limits', value: '{' }, 422, 'Must be JSON.'],
    [{ does: 'deny', feature: 'nothing' }, 422, 'Is not a feature of the project.'],
    [{ does: 'feature', feature: 'sso', lasts: 'date', expires_at: '2020-01-01T00:00' }, 422, 'Must be in the future.'],
    [{ does: 'feature', feature: 'sso', starts_at: 'soon' }, 422, 'Must be'],
    [{ does: 'feature', feature: 'sso', lasts: 'date', expires_at: '' }, 422, 'Must be'],
    [{ does: 'feature', feature: 'sso', reason: 'x'.repeat(201) }, 422, 'Must be at most 200'],
  ])('refuses the grant %j, and says why', async (fields, status, wrong) => {
    const answer = await send('/grants', fields)
    expect([answer.status, answer.wrong[0]]).toEqual([status, expect.stringContaining(wrong)])
  })

  it("shows a viewer everything, changes nothing for them, and knows no grant of another consumer's", async () => {
    const viewer = (await addMember(world.project, 'viewer')).token
    for (const path of ['', '/entitlements', '/grants'])
      expect(/grants\/(new|grt_\w+\/revoke)"|plans\/add/.test(await page(path, viewer))).toBe(false)
    const grant = /grants\/(grt_\w+)\/revoke/.exec(await page())?.[1]
    const other = (await world.consumers.put('grace')).body.id
    const theirs = here.replace(ada, other)
    expect((await visit(`${theirs}/grants/${grant}/revoke`, token)).status).toBe(404)
    expect((await submit(`${theirs}/grants/${grant}/revoke`, token)).status).toBe(404)
  })
})
