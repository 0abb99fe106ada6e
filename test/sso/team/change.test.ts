import { describe, expect, it } from 'vitest'
import { type Answer, call, DIRECTORY, mint, tamperedD1 } from '../../harness'
import { insertDomain } from '../rows'
import { account, CONNECTIONS, connect, enforced, signIn, start, team } from './team'

/* Who changes a connection of the team, and that a change happens as a whole or not at all. */

const told = ({ status, body }: Answer) => [status, body?.code]
const change = (project: string, token: string, id: string, json: object, bindings = {}) =>
  call(`${CONNECTIONS}/${id}`, { method: 'PATCH', project, token, json, bindings })
const shown = async (project: string, token: string, id: string) =>
  (await call(`${CONNECTIONS}/${id}`, { project, token })).body

describe('an API key', () => {
  it.each([
    ['client_id', { client_id: 'other' }],
    ['client_secret', { client_secret: 'other' }],
    ['auth_method', { auth_method: 'client_secret_post' }],
    ['scopes', { scopes: ['openid'] }],
    ['claims', { claims: { email: 'nickname', name: 'name' } }],
    ['domain_ids', { domain_ids: [] }],
    ['default_role', { default_role: 'viewer' }],
  ])('does not change %s of a connection with which people act as users', async (_, json) => {
    const { project, owner, connection } = await team()
    const { secret } = await mint(owner.token, project)
    const before = await shown(project, owner.token, connection)
    const refused = [403, 'console_session_required']
    expect(told(await change(project, secret, connection, { name: 'Mine', ...json }))).toEqual(refused)
    await call(`${CONNECTIONS}/${connection}/disable`, { method: 'POST', project, token: owner.token })
    expect(told(await change(project, secret, connection, json))).toEqual(refused)
    expect(await shown(project, owner.token, connection)).toEqual({ ...before, state: 'disabled' })
  })

  it('changes its name, drafts, and connections of customers', async () => {
    const { project, owner, connection, host } = await team()
    const { secret } = await mint(owner.token, project)
    expect((await change(project, secret, connection, { name: 'Renamed' })).body.name).toBe('Renamed')
    const draft = await connect(project, secret, host)
    expect((await change(project, secret, draft.id, { client_id: 'other' })).status).toBe(200)
    const customers = await connect(project, secret, host, { audience: 'customers' })
    expect((await change(project, secret, customers.id, { client_id: 'other' })).status).toBe(200)
  })
})

describe('a change that is refused', () => {
  it.each(['', ', and names it'])('writes nothing, if the last domain is lost while it enforces%s', async (named) => {
    const { project, owner, connection, domainId, sso } = await enforced()
    await change(project, sso.token, connection, { enforce: false })
    const before = await shown(project, owner.token, connection)
    const DB = tamperedD1(async ({ sql, run }) => {
      if (sql.includes('update "sso_connections"')) {
        await DIRECTORY.prepare("UPDATE domains SET state = 'pending' WHERE id = ?").bind(domainId).run()
      }
      return run()
    })
    const json = { name: 'Mine', default_role: 'viewer', enforce: true, ...(named && { domain_ids: [domainId] }) }
    expect(told(await change(project, sso.token, connection, json, { DB }))).toEqual([409, 'domain_unverified'])
    await DIRECTORY.prepare("UPDATE domains SET state = 'verified' WHERE id = ?").bind(domainId).run()
    expect(await shown(project, owner.token, connection)).toEqual(before)
    const log = await call(`/platform/v1/audit-log?object_id=${connection}`, { project, token: owner.token })
    expect(log.body.data[0].details).toEqual({ enforce: false, before: { enforce: true } })
  })

  it('writes nothing, if it enforces what is then untested, or has no verified domain', async () => {
    const { project, owner, connection, sso } = await enforced()
    await change(project, sso.token, connection, { enforce: false })
    const before = await shown(project, owner.token, connection)
    const pending = await insertDomain(project, 'pending.dev', { state: 'pending' })
    for (const [json, code] of [
      [{ client_id: 'other' }, 'connection_untested'],
      [{ domain_ids: [pending] }, 'domain_unverified'],
      [{ domain_ids: [] }, 'domain_unverified'],
    ] as const) {
      expect(told(await change(project, sso.token, connection, { ...json, enforce: true }))).toEqual([409, code])
    }
    expect(await shown(project, owner.token, connection)).toEqual(before)
  })

  it('disables nothing that is enforced at the same moment', async () => {
    const { project, connection, sso } = await enforced()
    await change(project, sso.token, connection, { enforce: false })
    let enforcing = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      if (enforcing === 0 && sql.includes('update "sso_connections"')) {
        enforcing = -1
        enforcing = (await change(project, sso.token, connection, { enforce: true })).status
      }
      return run()
    })
    const disable = { method: 'POST', project, token: sso.token, bindings: { DB } }
    expect(told(await call(`${CONNECTIONS}/${connection}/disable`, disable))).toEqual([409, 'connection_enforced'])
    expect([enforcing, await shown(project, sso.token, connection)]).toMatchObject([
      200,
      { state: 'active', enforce: true },
    ])
  })

  it('ends only its own enforcement', async () => {
    const { project, connection, host, sso } = await enforced()
    const other = await connect(project, sso.token, host)
    expect((await change(project, sso.token, other.id, { name: 'Other', enforce: false })).body.name).toBe('Other')
    expect((await shown(project, sso.token, connection)).enforce).toBe(true)
  })

  it('enforces with a domain that it brings', async () => {
    const { project, connection, domainId, sso } = await enforced()
    await change(project, sso.token, connection, { enforce: false })
    const second = await insertDomain(project, 'second.dev')
    const { body } = await change(project, sso.token, connection, { domain_ids: [second, domainId], enforce: true })
    expect([body.enforce, body.domains.length]).toEqual([true, 2])
  })
})

it('an address in another claim says nothing, however verified the claim email is', async () => {
  const of = await team({ claims: { email: 'nickname', name: 'name' } })
  const faults = { claims: { nickname: `ada@${of.domain}` } }
  await account(of.host, { sub: 'eve', email: `eve@${of.domain}` }, faults)
  expect((await start(`connection=${of.connection}`)).url).toContain(of.host)
  const { token, location } = await signIn(of, { sub: 'eve', email: `eve@${of.domain}` }, { faults })
  expect([token, location]).toEqual([null, '/console/sign-in?refused=email_unverified&next=%2Fconsole'])
})
