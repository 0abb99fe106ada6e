import { describe, expect, it } from 'vitest'
import { addMember, call, freshProject } from '../harness'
import { submit, visit } from './visit'

describe('the general settings of a project', () => {
  it('rename it, or say why not', async () => {
    const { project, owner } = await freshProject()
    const path = `/console/p/${project}/platform/settings/general`
    for (const name of ['', 'x'.repeat(101)]) {
      const refused = await submit(path, owner.token, { name })
      expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true])
      expect(refused.text).toContain(`value="${name}"`)
    }
    const done = await submit(path, owner.token, { name: 'New <b>' })
    expect([done.status, done.headers.get('Location')]).toEqual([303, `${path}?done=project_renamed`])
    expect((await call(`/platform/v1/projects/${project}`, { token: owner.token })).body.name).toBe('New <b>')
    expect((await visit(path, owner.token)).text).not.toContain('<b>')
  })

  it.each([
    [
      'owner',
      true,
      'You can do everything in this project.',
      ['API keys', 'Members', 'Connections', 'Audit log', 'Sessions', 'Passkeys'],
    ],
    ['viewer', false, 'change nothing', ['API keys', 'Members', 'Connections', 'Sessions', 'Passkeys']],
  ] as const)('show the role %s, and where to go', async (role, renames, words, places) => {
    const { project } = await freshProject('Shown')
    const { token } = await addMember(project, role)
    const { text } = await visit(`/console/p/${project}/platform/settings/general`, token)
    expect([text.includes('name="name"'), text.includes(words), text.includes('Shown')]).toEqual([renames, true, true])
    const [, list = ''] = text.split('<ul class="places">')
    expect([...list.matchAll(/<a href="[^"]+">([^<]+)<\/a>: /g)].map(([, name]) => name)).toEqual(places)
    expect(text).toContain('<dt>Payloads are kept for</dt><dd>90 days</dd>')
  })
})
