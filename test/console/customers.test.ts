import { beforeAll, describe, expect, it } from 'vitest'
import { billingWorld } from '../billing/world'
import { as } from '../consumers/consumers'
import { checkout, ofCustomer } from '../consumers/events'
import { told } from './member-pages'
import { submit, visit } from './visit'

describe('the customers without a consumer', () => {
  let at: string
  let list: string
  let token: string
  let api: ReturnType<typeof as>
  let ada: string
  beforeAll(async () => {
    const world = await billingWorld()
    token = world.owner.token
    at = `/console/p/${world.project}/platform`
    list = `${at}/consumers/unlinked`
    api = as(world.project, token)
    ada = (await api.put('user_1', { email: 'ada@example.com' })).body.id
    const named = ofCustomer('cus_named', null)
    Object.assign(named.data.object, { email: 'ada@example.com', name: 'Ada <b>' })
    await world.deliver(
      named,
      ofCustomer('cus_waits', 'user_8'),
      checkout('cus_link', 'user_9'),
      ofCustomer('cus_1', 'user_1'),
    )
  })
  const of = (customer: string, rest = '') => `${at}/billing/customers/stripe/${customer}${rest}`
  const page = async (path: string) => (await visit(path, token)).text
  const send = (path: string, fields: Record<string, string> = {}) => told(submit(path, token, fields))
  const listed = async () => [...(await page(list)).matchAll(/customers\/stripe\/(\w+)"/g)].map(([, id]) => id)
  const linkOf = async (customer: string) => {
    const { consumer_id, external_id, linked_by } = (await api.customer(customer)).body
    return [consumer_id, external_id, linked_by]
  }
  const toConsumer = (id: string, notice = 'customer_linked') => ({
    status: 303,
    location: `${at}/consumers/${id}?tab=billing&done=${notice}`,
    wrong: [],
  })

  it('are listed, with what their events call them and what they name', async () => {
    expect(await listed()).toEqual(['cus_link', 'cus_named', 'cus_waits'])
    const text = await page(list)
    for (const part of ['Ada &lt;b&gt;', 'ada@example.com', '<code>user_8</code>', '<code>user_9</code>'])
      expect(text).toContain(part)
  })

  it('can be linked to the consumer that has their email address, which their page offers', async () => {
    const offered = async (customer: string) =>
      [...(await page(of(customer, '/consumer'))).matchAll(/name="consumer" value="(\w+)"/g)].map(([, id]) => id)
    expect(await offered('cus_named')).toEqual([ada])
    expect(await page(of('cus_named', '/consumer'))).toContain('This consumer has the same email address:')
    expect(await offered('cus_waits')).toEqual([])
    // Not the one that the customer is linked to already, and none that was merged or erased.
    const other = (await api.put('user_same', { email: 'ada@example.com' })).body.id
    await api.pin('cus_named', ada)
    expect(await offered('cus_named')).toEqual([other])
    await api.erase(other)
    expect(await offered('cus_named')).toEqual([])
    await api.unpin('cus_named')
  })

  it('have a page, even if an event only links them', async () => {
    const text = await page(of('cus_link'))
    expect(text).toContain('no consumer has the ID <code>user_9</code>')
    expect(text).toContain('Link to a consumer')
    const linked = await page(of('cus_1'))
    expect(linked).toContain(`<a href="${at}/consumers/${ada}">ada@example.com</a>`)
    expect(linked).toMatch(/By its metadata, in <a href="[^"]*\/(evt_\w+)" title="\1">customer\.\w+<\/a>/)
    expect(linked).toMatch(/<dt>Source event<\/dt><dd><a href="[^"]*">customer\.\w+<\/a>/)
    expect((await visit(of('cus_unknown'), token)).status).toBe(404)
    expect((await visit(of('x'.repeat(300), '/consumer'), token)).status).toBe(404)
    expect((await visit(of('cus_1', '/consumer').replace('/stripe/', '/nobody/'), token)).status).toBe(404)
  })

  it('are linked to a consumer that is found by an id or an email address', async () => {
    const path = of('cus_named', '/consumer')
    expect(await page(path)).toContain('value="ada@example.com"')
    for (const consumer of ['', 'nobody', 'csm_none']) {
      expect(await send(path, { consumer })).toMatchObject({
        status: 422,
        wrong: [expect.stringContaining('No consumer')],
      })
    }
    const twin = (await api.put('user_2', { email: 'ada@example.com' })).body.id
    const { text } = await submit(path, token, { consumer: 'Ada@example.com' })
    expect(text).toContain('Several consumers match')
    expect(text).toContain(`name="consumer" value="${twin}"`)
    // A text that a consumer only begins with links nothing: the page asks first.
    const lone = (await api.put('lone_1', {})).body.id
    const asked = await submit(path, token, { consumer: 'lone' })
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining(`name="consumer" value="${lone}"`)])
    expect((await linkOf('cus_named'))[0]).toBeNull()
    expect(await send(path, { consumer: 'user_1' })).toEqual(toConsumer(ada))
    expect(await linkOf('cus_named')).toEqual([ada, 'user_1', 'manual'])
    expect(await listed()).not.toContain('cus_named')
  })

  it('are linked to a new consumer: by a pin only if events do not name it', async () => {
    expect(await page(of('cus_waits', '/consumer'))).toContain('name="external_id" autocomplete="off" value="user_8"')
    const create = (customer: string, external_id: string) => send(of(customer, '/consumer/new'), { external_id })
    expect(await create('cus_waits', 'user_1')).toMatchObject({ status: 409 })
    expect(await create('cus_waits', 'user_8')).toMatchObject({ status: 303 })
    expect((await linkOf('cus_waits')).slice(1)).toEqual(['user_8', 'customer'])
    expect(await create('cus_link', 'user_7')).toMatchObject({ status: 303 })
    expect((await linkOf('cus_link')).slice(1)).toEqual(['user_7', 'manual'])
  })

  it('are linked to a new consumer although an event has linked them to another one', async () => {
    const created = await send(of('cus_1', '/consumer/new'), { external_id: 'user_6' })
    expect(created).toMatchObject({ status: 303, location: expect.stringContaining('customer_linked') })
    expect((await linkOf('cus_1')).slice(1)).toEqual(['user_6', 'manual'])
  })

  it('are set to no consumer, and unpinned, from where the user came', async () => {
    expect(await send(of('cus_1', '/nobody'))).toMatchObject({
      location: `${of('cus_1')}?done=customer_without_consumer`,
    })
    expect(await linkOf('cus_1')).toEqual([null, null, 'manual'])
    expect(await listed()).not.toContain('cus_1')
    expect(await page(`${list}?settled=true`)).toContain('No consumer, set manually')
    expect(await send(of('cus_1', '/unpin'))).toMatchObject({
      location: `${of('cus_1', '/consumer')}?done=customer_unpinned`,
    })
    expect(await linkOf('cus_1')).toEqual([ada, 'user_1', 'customer'])
    expect(await page(of('cus_named', `/unpin?from=${ada}`))).toContain(`name="from" value="${ada}"`)
    expect(await send(of('cus_named', '/unpin'), { from: ada })).toEqual(toConsumer(ada, 'customer_unpinned'))
    expect(await page(of('cus_named', '/unpin?from=//evil.example'))).not.toContain('evil')
    expect(await listed()).toEqual(['cus_named'])
  })
})
