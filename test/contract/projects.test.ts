import { describe, expect, it } from 'vitest'
import { call, freshKey } from '../harness'
import { newWorld } from '../routes/world'
import { answerOf, KEYS, PROJECTS, WEBHOOKS } from './api'

describe('projects', () => {
  it('[projects.1] POST creates a project and answers with it', async () => {
    const { project, secret, owner } = await freshKey()
    for (const caller of [{ token: owner.token }, { token: secret, project }]) {
      const answer = await call(PROJECTS, { method: 'POST', ...caller, json: { name: 'Acme' } })
      expect([answer.status, answer.body.name]).toEqual([201, 'Acme'])
      const read = await call(`${PROJECTS}/${answer.body.id}`, { token: owner.token })
      expect(read.body).toMatchObject({ id: answer.body.id, name: 'Acme' })
    }
  })

  it('[projects.2] GET is the first call to make with a new key: it lists what the caller can see', async () => {
    const { project, owner, secret } = await freshKey()
    const { body: second } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Second' } })
    const withKey = await answerOf(PROJECTS, secret, project)
    expect(withKey.status).toBe(200)
    expect(withKey.body.data.map((row) => row.id)).toEqual([project])
    const withSession = await call(PROJECTS, { token: owner.token })
    expect(withSession.body.data.map((row) => row.id).sort()).toEqual([project, second.id].sort())
  })

  it("[projects.3] every request is scoped to one project: another's objects are not there", async () => {
    const mine = await freshKey()
    const theirs = await newWorld()
    const paths: [string, string][] = [
      ['GET', `${PROJECTS}/${theirs.project}`],
      ['POST', `${KEYS}/${theirs.key.id}/rotate`],
      ['DELETE', `${KEYS}/${theirs.key.id}`],
      ['GET', `/platform/v1/billing/connections/${theirs.connection.id}`],
      ['DELETE', `/platform/v1/billing/connections/${theirs.connection.id}`],
      ['GET', `${WEBHOOKS}/${theirs.event}`],
      ['GET', `${WEBHOOKS}/${theirs.event}/attempts`],
      ['POST', `${WEBHOOKS}/${theirs.event}/replay`],
    ]
    for (const token of [mine.secret, mine.owner.token]) {
      for (const [method, path] of paths) {
        const answer = await call(path, { method, token, project: mine.project })
        expect([answer.status, answer.body.code], `${method} ${path}`).toEqual([404, 'not_found'])
      }
      for (const list of [WEBHOOKS, '/platform/v1/billing/connections']) {
        expect((await call(list, { token, project: mine.project })).body.data).toEqual([])
      }
    }
  })
})
