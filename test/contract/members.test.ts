import { describe, expect, it } from 'vitest'
import { call, freshKey, invite, signedIn } from '../harness'

describe('members', () => {
  it('[members.1] are invited by their address, become members by accepting, and get the roles that they are assigned', async () => {
    const { project, owner, secret } = await freshKey()
    for (const token of [owner.token, secret]) {
      const person = await signedIn()
      const { status, body } = await invite(project, token, { email: person.email, role: 'viewer' })
      expect([status, body.email, body.role]).toEqual([201, person.email, 'viewer'])
      const accepted = await call(`/auth/invitations/${body.id}/accept`, { method: 'POST', token: person.token })
      expect([accepted.status, accepted.body.project.id, accepted.body.role]).toEqual([200, project, 'viewer'])
      const path = `/platform/v1/members/${person.user}`
      const assigned = await call(path, { method: 'PATCH', project, token, json: { role: 'developer' } })
      expect([assigned.status, assigned.body.role]).toEqual([200, 'developer'])
    }
  })
})
