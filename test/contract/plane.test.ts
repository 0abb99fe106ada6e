import { describe, expect, it } from 'vitest'
import { call, freshKey, freshProject } from '../harness'
import { ROUTES } from '../routes/of-app'
import { PROJECTS } from './api'

describe('the plane', () => {
  it('[plane.1] the version is in the path: no other version is served', async () => {
    const { project, secret } = await freshKey()
    for (const path of ['/platform/v2/projects', '/platform/projects', '/v1/projects', '/projects']) {
      expect((await call(path, { token: secret, project })).status).toBe(404)
    }
    const plane = ROUTES.filter(({ path }) => path.startsWith('/platform'))
    expect(plane.every(({ path }) => path.startsWith('/platform/v1/'))).toBe(true)
  })

  it('[plane.2] bodies are JSON, of that content type', async () => {
    const { owner } = await freshProject()
    const answer = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Acme' } })
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/)
    const text = await call(PROJECTS, {
      method: 'POST',
      token: owner.token,
      body: '{"name":"Acme"}',
      headers: { 'Content-Type': 'text/plain' },
    })
    expect(text.status).toBe(415)
  })
})
