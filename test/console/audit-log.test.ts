import { describe, expect, it } from 'vitest'
import { addMember, call, freshProject, mint } from '../harness'
import { visit } from './visit'

describe('the audit log in the console', () => {
  it('shows who changed what, by email address and key name, and filters it', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project, { name: 'Importer <b>' })
    await call(`/platform/v1/api-keys/${key.id}`, {
      method: 'PATCH',
      token: secret,
      project,
      json: { name: 'Now <b>' },
    })
    const path = `/console/p/${project}/platform/settings/audit-log`
    const rowsOf = async (query: string) => {
      const { status, text } = await visit(path + query, owner.token)
      expect([query, status]).toEqual([query, 200])
      return [...text.matchAll(/<code>((?:api_key|project)\.\w+)<\/code>/g)].map(([, action]) => action)
    }
    expect(await rowsOf('')).toEqual(['api_key.updated', 'api_key.minted', 'project.created'])
    expect(await rowsOf(`?actor_id=${key.id}&action=&created_after=`)).toEqual(['api_key.updated'])
    expect(await rowsOf('?action=api_key.*&created_after=2020-01-01T00:00')).toEqual([
      'api_key.updated',
      'api_key.minted',
    ])
    expect(await rowsOf('?created_before=2020-01-01T00:00')).toEqual([])
    const { text } = await visit(path, owner.token)
    expect(text).toContain('API key “Now &lt;b&gt;”')
    expect(text).toContain(`${owner.email} <a`)
    expect(text).not.toContain('<b>')
  })

  it('says what is wrong with a filter', async () => {
    const { project, owner } = await freshProject()
    for (const query of ['?action=a*b', '?created_after=soon']) {
      const { status, text } = await visit(`/console/p/${project}/platform/settings/audit-log${query}`, owner.token)
      expect([query, status, text.includes('role="alert"')]).toEqual([query, 422, true])
    }
  })

  it('is in the menu of those who may read it', async () => {
    const { project, owner } = await freshProject()
    const viewer = await addMember(project, 'viewer')
    const menuOf = async (token: string) =>
      (await visit(`/console/p/${project}/platform/settings/api-keys`, token)).text.includes('>Audit log<')
    expect([await menuOf(owner.token), await menuOf(viewer.token)]).toEqual([true, false])
  })
})
