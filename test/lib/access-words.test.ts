import { expect, it } from 'vitest'
import api from '../../docs/reference/api.md?raw'
import { ROLE_SCOPES, ROLES, SCOPES } from '../../src/lib/access'
import { AREAS, roleWords } from '../../src/lib/access-words'

const [, section = ''] = /### Scopes and roles\n(.*?)\n## /s.exec(api) ?? []
const lines = section.split('\n')

it('docs/reference/api.md lists every scope by its area, and what it is for', () => {
  const named = new Set<string>()
  for (const [area, { label, hint }] of Object.entries(AREAS)) {
    const scopes = SCOPES.filter((scope) => scope.startsWith(`${area}:`))
    for (const scope of scopes) named.add(scope)
    expect(lines).toContain(`| ${label} | ${scopes.map((scope) => `\`${scope}\``).join(', ')} | ${hint} |`)
  }
  expect([...named].sort()).toEqual([...SCOPES].sort())
})

it.each(ROLES)('docs/reference/api.md says of the role %s what the console says', (role) => {
  expect(lines).toContain(`| ${role} | ${roleWords(role, 'Can')} |`)
})

it('a viewer sees everything except the audit log, as its words say', () => {
  const reading = SCOPES.filter((scope) => scope.endsWith(':read') && scope !== 'audit_log:read')
  expect(ROLE_SCOPES.viewer.toSorted()).toEqual(reading.toSorted())
})
