import { addMember, call, freshProject } from '../harness'
import { customersWorld } from '../sso/customers'
import { insertConnection, insertDomain } from '../sso/rows'
import { CONNECTIONS, enforced, ssoMember, team } from '../sso/team/team'

const MEMBERS = '/platform/v1/members'
const draft = { audience: 'team', name: 'Acme', issuer: 'https://sample.plain.dev', client_id: 'rp' }

/** For each fault of single sign-on, a request that is refused with it. */
export const OF_SSO = {
  invalid_grant: async () => (await customersWorld()).token('0'.repeat(64)),
  sso_required: async () => {
    const { project } = await enforced()
    return call(MEMBERS, { project, token: (await addMember(project, 'owner')).token })
  },
  sso_session_limited: async () => call('/auth/events', { token: (await ssoMember(await team())).token }),
  not_an_owner: async () => {
    const { project, owner } = await freshProject()
    const { user } = await addMember(project, 'admin')
    return call(`${MEMBERS}/${user}/break-glass`, { method: 'PUT', project, token: owner.token })
  },
  break_glass_missing: async () => {
    const { project, owner } = await enforced()
    return call(`${MEMBERS}/${owner.user}/break-glass`, { method: 'DELETE', project, token: owner.token })
  },
  domain_taken: async () => {
    const { project, owner } = await freshProject()
    const json = { ...draft, domain_ids: [await insertDomain(project, 'taken.dev')] }
    const create = () => call(CONNECTIONS, { method: 'POST', project, token: owner.token, json })
    await create()
    return create()
  },
  domain_unverified: async () => {
    const { project, owner } = await freshProject()
    const { id } = await insertConnection(project, { tested_revision: 1 })
    return call(`${CONNECTIONS}/${id}/activate`, { method: 'POST', project, token: owner.token })
  },
  connection_inactive: async () => {
    const { project, owner } = await freshProject()
    const { id } = await insertConnection(project)
    const json = { enforce: true }
    return call(`${CONNECTIONS}/${id}`, { method: 'PATCH', project, token: owner.token, json })
  },
  connection_untested: async () => {
    const { project, owner } = await freshProject()
    const { id } = await insertConnection(project)
    return call(`${CONNECTIONS}/${id}/activate`, { method: 'POST', project, token: owner.token })
  },
  connection_enforced: async () => {
    const { project, owner, connection } = await enforced()
    return call(`${CONNECTIONS}/${connection}`, { method: 'DELETE', project, token: owner.token })
  },
  sso_session_required: async () => {
    const { project, owner, connection } = await team()
    const json = { enforce: true }
    return call(`${CONNECTIONS}/${connection}`, { method: 'PATCH', project, token: owner.token, json })
  },
}
