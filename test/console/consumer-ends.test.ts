import { beforeAll, describe, expect, it } from 'vitest'
import { billingWorld } from '../billing/world'
import { as } from '../consumers/consumers'
import { ofCustomer } from '../consumers/events'
import { as as devicesAs } from '../devices/devices'
import { addMember } from '../harness'
import { told } from './member-pages'
import { consumerTabs, submit, visit } from './visit'

describe('the devices and the erasure of a consumer', () => {
  let at: string
  let path: string
  let id: string
  let token: string
  let developer: string
  let api: ReturnType<typeof as>
  let devices: ReturnType<typeof devicesAs>
  beforeAll(async () => {
    const world = await billingWorld()
    token = world.owner.token
    developer = (await addMember(world.project, 'developer')).token
    api = as(world.project, token)
    devices = devicesAs(world.project, token)
    id = (await api.put('user_1', { email: 'ada@example.com', name: 'Ada' })).body.id
    await world.deliver(ofCustomer('cus_1', 'user_1'))
    at = `/console/p/${world.project}/platform`
    path = `${at}/consumers/${id}`
  })
  const textOf = async (page = path, as = token) =>
    page === path ? consumerTabs(path, as) : (await visit(page, as)).text
  const send = (to: string, fields: Record<string, string> = {}) => told(submit(to, token, fields))

  it('lists devices, and revokes one after a question', async () => {
    await devices.register(id, 'inst_1', { name: 'Ada <b>', app_version: '2.4.0' })
    const { device, token: secret } = (await devices.register(id, 'inst_2', { model: 'Pixel' })).body
    expect(await textOf()).toMatch(/2 of \d+ active/)
    expect(await textOf()).toContain('Ada &lt;b&gt;')
    const revoke = `${path}/devices/${device.id}/revoke`
    expect(await textOf(revoke)).toContain('Revoke Pixel?')
    expect((await visit(`${path}/devices/dev_none/revoke`, token)).status).toBe(404)
    expect(await send(revoke)).toMatchObject({ status: 303, location: `${path}?tab=devices&done=device_revoked` })
    expect((await devices.verify(secret)).body).toMatchObject({ valid: false, reason: 'revoked' })
    const text = await textOf()
    expect(text).toMatch(/1 of \d+ active/)
    expect([text.includes('inst_2'), text.includes(revoke)]).toEqual([true, false])
    expect((await visit(`${path}?tab=history`, token)).text).toContain('Revoked a device')
  })

  it('asks for the id before it erases, says what stays, and only to roles that may', async () => {
    expect(await textOf(path, developer)).not.toContain('/erase"')
    expect(await textOf()).toContain(`${path}/erase"`)
    const question = await textOf(`${path}/erase`)
    expect(question).toContain('GDPR Art. 17(3)(b)')
    for (const typed of ['', 'user_2', id]) {
      expect(await send(`${path}/erase`, { typed })).toMatchObject({
        status: 422,
        wrong: ['This is not the ID of the consumer. Nothing was erased.'],
      })
    }
    expect(await send(`${path}/erase`, { typed: ' user_1 ' })).toMatchObject({
      status: 303,
      location: `${path}?done=consumer_erased`,
    })
    const text = await textOf()
    for (const part of ['This consumer was erased', 'running', 'hx-get', 'GDPR Art. 17(3)(b)', 'Erased a consumer'])
      expect(text).toContain(part)
    expect(text).not.toMatch(/ada@example|user_1|\/(edit|merge|block|erase)"/)
    for (const verb of ['edit', 'block', 'merge', 'erase']) {
      expect((await visit(`${path}/${verb}`, token)).status).toBe(409)
      expect((await send(`${path}/${verb}`, { typed: id })).status).toBe(409)
    }
    expect(await textOf(`${at}/consumers?state=erased`)).toContain(id)
  })

  it('links the customer of an erased consumer to nobody', async () => {
    const customer = `${at}/billing/customers/stripe/cus_1`
    await api.put('user_3')
    expect(await send(`${customer}/consumer`, { consumer: id })).toMatchObject({ status: 422 })
    expect(await send(`${customer}/consumer`, { consumer: 'user_3' })).toMatchObject({
      status: 409,
      wrong: [expect.stringContaining('was erased')],
    })
    expect((await send(`${customer}/unpin`)).status).toBe(409)
    expect(await textOf(customer)).not.toContain('Change</a>')
    expect(await textOf(`${at}/consumers/unlinked?settled=true`)).toContain('Its consumer was erased')
  })
})
