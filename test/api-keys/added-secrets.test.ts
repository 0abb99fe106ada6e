import { describe, expect, it } from 'vitest'
import { visit } from '../console/visit'
import { call, deliver, freshProject, lossyQueue, mint, ORDINARY, stripeConnection, stripeEvent } from '../harness'

const PLANTED = 'whsec_planted_by_whoever_held_the_key'

type Connection = { id: string; secrets: { id: string; added_by: unknown }[] }

/** A project whose leaked key was used to add secrets, by itself and through a key that it rotated. */
async function leaked() {
  const { project, owner } = await freshProject()
  const connection = await stripeConnection(owner.token, project)
  const [leak, rotated, free] = [
    await mint(owner.token, project, { name: 'leak' }),
    await mint(owner.token, project, { name: 'rotated', scopes: ORDINARY }),
    await mint(owner.token, project, { name: 'free' }),
  ]
  const api = (path: string, token: string, json?: unknown, method = json ? 'POST' : 'GET') =>
    call(`/platform/v1${path}`, { method, token, project, ...(json !== undefined && { json }) })
  const at = `/billing/connections/${connection.id}`
  const mine = await api(`${at}/secrets`, free.secret, { signing_secret: 'whsec_of_a_key_that_did_not_leak' })
  const planted = await api(`${at}/secrets`, leak.secret, { signing_secret: PLANTED })
  const { body } = await api(`/api-keys/${rotated.key.id}/rotate`, leak.secret, undefined, 'POST')
  const created = await api('/billing/connections', body.secret, {
    vendor: 'stripe',
    name: 'Planted <b>',
    livemode: true,
    signing_secret: PLANTED,
  })
  const idsOf = ({ secrets }: Connection) => secrets.map(({ id }) => id)
  const [first = '', second = '', third = ''] = idsOf(planted.body)
  expect([mine.status, planted.status, created.status]).toEqual([201, 201, 201])
  return {
    project,
    owner,
    api,
    at,
    leak,
    rotated,
    free,
    connection: planted.body as Connection,
    created: created.body as Connection,
    secrets: { owner: first, free: second, leak: third, rotated: idsOf(created.body)[0] ?? '' },
  }
}

describe('signing secrets that a leaked key added', () => {
  it('say who added them', async () => {
    const { owner, leak, rotated, free, connection, created } = await leaked()
    const key = (id: string) => ({ type: 'api_key', id })
    expect(connection.secrets.map(({ added_by }) => added_by)).toEqual([
      { type: 'user', id: owner.user },
      key(free.key.id),
      key(leak.key.id),
    ])
    expect(created.secrets.map(({ added_by }) => added_by)).toEqual([key(rotated.key.id)])
  })

  it('are named by its revocation with issued=true, each time, and stay until they are removed', async () => {
    const { owner, api, at, leak, connection, created, secrets } = await leaked()
    await leaked() // another project, where the same happened
    const revoke = () => api(`/api-keys/${leak.key.id}?issued=true`, owner.token, undefined, 'DELETE')
    const named = {
      connections: [
        { id: created.id, secret_ids: [secrets.rotated] },
        { id: connection.id, secret_ids: [secrets.leak] },
      ],
    }
    for (let i = 0; i < 2; i++) expect(await revoke()).toMatchObject({ status: 200, body: named })
    const bindings = { EVENTS: lossyQueue().EVENTS }
    expect((await deliver(connection.id, stripeEvent(), { secret: PLANTED, bindings })).status).toBe(200)
    await api(`${at}/secrets/${secrets.leak}`, owner.token, undefined, 'DELETE')
    expect((await revoke()).body).toEqual({ connections: [named.connections[0]] })
    await api(`/billing/connections/${created.id}`, owner.token, undefined, 'DELETE')
    expect((await revoke()).body).toEqual({ connections: [] })
  })

  it('are not named by a revocation without issued=true, which has no body', async () => {
    const { owner, api, leak } = await leaked()
    const answer = await api(`/api-keys/${leak.key.id}`, owner.token, undefined, 'DELETE')
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  it('are named with their connections before the console revokes it, and on the connection', async () => {
    const { project, owner, leak, free, rotated, connection, created } = await leaked()
    const platform = `/console/p/${project}/platform`
    const question = async (id: string) => (await visit(`${platform}/settings/api-keys/${id}/revoke`, owner.token)).text
    const links = async (id: string) =>
      [...(await question(id)).matchAll(/<li><a href="[^"]+\/connections\/(con_\w+)">([^<]+)<\/a>/g)].map(
        ([, id, name]) => [id, name],
      )
    const both = [
      [created.id, 'Planted &lt;b&gt;'],
      [connection.id, 'Stripe'],
    ]
    expect(await links(leak.key.id)).toEqual(both)
    expect(await question(leak.key.id)).toContain('Signing secrets that were added with this key')
    expect(await links(rotated.key.id)).toEqual([both[0]])
    expect(await links(free.key.id)).toEqual([both[1]])
    const page = await visit(`${platform}/billing/connections/${connection.id}`, owner.token)
    const addedBy = [...page.text.matchAll(/<td data-label="Added by">([^<]*)</g)].map(([, name]) => name)
    expect(addedBy).toEqual([owner.email, 'free', 'leak'])
    const fresh = await mint(owner.token, project)
    expect(await question(fresh.key.id)).not.toContain('Signing secrets')
  })
})
