import { expect, it } from 'vitest'
import { billingWorld } from '../billing/world'
import { as } from '../consumers/consumers'
import { checkout, ofCustomer } from '../consumers/events'
import { told } from './member-pages'
import { formToken, visit } from './visit'

/** Several customers that are ticked in the list and linked together. */

async function newPlace() {
  const world = await billingWorld()
  const { token } = world.owner
  const list = `/console/p/${world.project}/platform/consumers/unlinked`
  const api = as(world.project, token)
  const called = (id: string, email: string | null, name?: string) => {
    const event = ofCustomer(id, null)
    Object.assign(event.data.object, { email, name })
    return event
  }
  const asked = (ids: string[]) => `${list}/link?${new URLSearchParams(ids.map((id) => ['id', `stripe ${id}`]))}`
  const ask = async (ids: string[]) => (await visit(asked(ids), token)).text
  /** Sends the form of the page that asks about these. */
  const send = async (text: string, as = 'consumer') => {
    const hidden = [...text.matchAll(/type="hidden" name="(id|to)" value="([^"]+)"/g)]
    const fields: [string, string][] = hidden.map(([, name = '', value = '']) => [name, value])
    const form = new URLSearchParams([...fields, ['as', as], ['form_token', await formToken(token)]])
    return told(visit(`${list}/link`, token, { form }))
  }
  const linkOf = async (id: string) => {
    const { consumer_id, external_id, linked_by } = (await api.customer(id)).body
    return { consumer_id, external_id, linked_by }
  }
  return { world, token, list, api, called, ask, send, linkOf }
}

it('says what each becomes, and links it: to the one consumer with its address, or to a new one', async () => {
  const { world, token, list, api, called, ask, send, linkOf } = await newPlace()
  const ada = (await api.put('user_1', { email: 'ada@example.com', name: 'Ada' })).body.id
  for (const id of ['twin_1', 'twin_2']) await api.put(id, { email: 'twin@example.com' })
  await world.deliver(
    called('cus_ada', 'Ada@example.com'),
    called('cus_twin', 'twin@example.com'),
    called('cus_bob', 'bob@example.com', 'Bob'),
    called('cus_bob2', 'BOB@example.com'),
    called('cus_odd', 'not an address', 'x'.repeat(200)),
    checkout('cus_named', 'user_9'),
    ofCustomer('cus_linked', 'user_1'),
  )
  const { text: page } = await visit(list, token)
  expect(page).toContain('name="id" value="stripe cus_ada"')
  const chosen = ['cus_ada', 'cus_twin', 'cus_bob', 'cus_bob2', 'cus_odd', 'cus_named', 'cus_linked']
  const text = await ask([...chosen, 'cus_ada'])
  expect(text).toContain('Link 6 customers?')
  expect(text).toContain('1 selected customer')
  expect(text).toContain(`>Ada</a>`)
  expect(text).toContain('with the ID <code>user_9</code>')
  expect(await send(text)).toEqual({ status: 303, location: `${list}?done=chosen_customers_linked`, wrong: [] })
  expect(await linkOf('cus_ada')).toEqual({ consumer_id: ada, external_id: 'user_1', linked_by: 'manual' })
  expect(await linkOf('cus_named')).toMatchObject({ external_id: 'user_9', linked_by: 'checkout' })
  const [bob, again, twin, odd] = await Promise.all(['cus_bob', 'cus_bob2', 'cus_twin', 'cus_odd'].map(linkOf))
  expect(bob).toMatchObject({ consumer_id: expect.stringMatching(/^csm_/), linked_by: 'manual' })
  expect(again?.consumer_id).toBe(bob?.consumer_id)
  expect(new Set([ada, ...[bob, twin, odd].map((of) => of?.consumer_id)]).size).toBe(4)
  const made = async (id = '') => (await api.get(id)).body
  expect(await made(bob?.consumer_id)).toMatchObject({ email: 'bob@example.com', name: 'Bob', external_ids: [] })
  expect(await made(odd?.consumer_id)).toMatchObject({ email: null, name: null })
})

it('marks them as having none; what is linked by then stays, and a page without any says so', async () => {
  const { world, token, list, api, called, ask, send, linkOf } = await newPlace()
  const ids = ['cus_1', 'cus_2', 'cus_3']
  await world.deliver(...ids.map((id) => called(id, null)))
  const text = await ask(ids)
  await api.put('user_1', {})
  await world.deliver(ofCustomer('cus_1', 'user_1', 9))
  expect(await send(text, 'nobody')).toMatchObject({ location: `${list}?done=chosen_customers_changed_partly` })
  expect(await linkOf('cus_1')).toMatchObject({ external_id: 'user_1', linked_by: 'customer' })
  expect(await linkOf('cus_2')).toEqual({ consumer_id: null, external_id: null, linked_by: 'manual' })
  const late = await send(text, 'consumer')
  expect(late.status).toBe(409)
  for (const page of [await ask(ids), await ask([])]) expect(page).toContain('No customers to link')
  for (const id of ['nobody cus_1', 'x', `stripe ${'x'.repeat(400)}`]) {
    const { status } = await visit(`${list}/link?${new URLSearchParams({ id })}`, token)
    expect([id, status]).toEqual([id, 404])
  }
})
