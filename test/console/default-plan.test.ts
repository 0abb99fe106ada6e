import { beforeAll, describe, expect, it } from 'vitest'
import { type EntitlementWorld, entitlementWorld, sellPlans } from '../entitlements/world'
import { addMember, call } from '../harness'
import { submit, visit } from './visit'

/** One story: each test continues where the previous one ended. */
describe('the default plan in the console', () => {
  let world: EntitlementWorld
  let token: string
  let project: string
  let consumer: string
  const plans: Record<string, string> = {}
  beforeAll(async () => {
    world = await entitlementWorld()
    token = world.owner.token
    project = `/console/p/${world.project}/platform`
    await sellPlans(world)
    for (const { key, id } of (await world.catalog.plans()).body.data) plans[key] = id
    await world.catalog.plan({ key: 'old', name: 'Old', state: 'archived' })
    consumer = (await world.consumers.put('ada')).body.id
  })
  const words = async (path: string, as = token) =>
    (await visit(project + path, as)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  const form = async (as = token) =>
    /<select id="default_plan".*?<\/select>/s.exec(
      (await visit(`${project}/settings/general?tab=entitlements`, as)).text,
    )?.[0] ?? ''
  const send = (default_plan: string, as = token) =>
    submit(`${project}/settings/general/entitlements`, as, { default_plan, grace_days: '3' })
  const stored = async () => (await call(`/platform/v1/projects/${world.project}`, { token })).body.settings

  it('is chosen among the active plans, in the settings', async () => {
    const options = [...(await form()).matchAll(/<option value="(.*?)"( selected="?"?)?.*?>(.*?)</g)]
    expect(options.map(([, value, , label]) => [value, label])).toEqual([
      ['', 'None'],
      [plans.pro, 'Pro'],
      [plans.starter, 'Starter'],
    ])
    expect((await send(plans.starter ?? '')).status).toBe(303)
    expect(await stored()).toMatchObject({ default_plan: plans.starter, grace_days: 3 })
    expect(await form()).toMatch(new RegExp(`value="${plans.starter}" selected`))
    const refused = await send('pln_nothing')
    expect([refused.status, refused.text.includes('id="default_plan-wrong"')]).toEqual([422, true])
    const gone = await send((await world.catalog.plans()).body.data.find(({ key }) => key === 'old')?.id ?? '')
    expect([gone.status, gone.text]).toEqual([422, expect.stringContaining('Must be an active plan of the project')])
    const viewer = (await addMember(world.project, 'viewer')).token
    expect(await words('/settings/general?tab=entitlements', viewer)).toContain('Default plan Starter')
    expect([await form(viewer), (await send('', viewer)).status]).toEqual(['', 403])
  })

  it('is on the page of a consumer, of the plan, and in the list', async () => {
    const page = await words(`/consumers/${consumer}`)
    expect(page).toMatch(/seats allowed 1 Included in the default plan 1 source Starter Default plan value 1 Applies/)
    await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    const replaced = 'Does not apply: the consumer has a plan from a subscription, purchase or grant.'
    expect(await words(`/consumers/${consumer}`)).toContain(replaced)
    expect(await words(`/billing/plans/${plans.starter}`)).toContain(
      'Consumers have this plan while they have no other',
    )
    expect(await words(`/billing/plans/${plans.pro}`)).not.toContain('Default plan')
    expect((await words('/billing/plans')).match(/default plan/g)).toHaveLength(1)
  })

  it('cannot be archived, until there is another one or none', async () => {
    const path = `${project}/billing/plans/${plans.starter}/edit`
    const { revision } = (await world.catalog.get(plans.starter ?? '')).body
    const fields = {
      key: 'starter',
      name: 'Starter',
      rank: '1',
      state: 'archived',
      etag: `"${revision}"`,
      step: 'save',
    }
    const refused = await submit(path, token, fields)
    expect([refused.status, refused.text.includes('Change the setting default_plan first')]).toEqual([409, true])
    expect((await send('')).status).toBe(303)
    expect((await stored()).default_plan).toBeNull()
    expect((await submit(path, token, fields)).status).toBe(303)
  })
})
