import { expect, it } from 'vitest'
import { call, freshKey, freshProject } from '../harness'
import { submit, visit } from './visit'

const keysOf = (project: string) => `/console/p/${project}/platform/settings/api-keys`
const HERE = { 'CF-Connecting-IP': '2001:db8:7:7::7' }

it('creates a key that works only from the network of the reader, and says so on its page', async () => {
  const { project, owner } = await freshProject()
  const keys = keysOf(project)
  const { text } = await visit(`${keys}/new`, owner.token, { headers: HERE })
  expect(text).toContain('value="2001:db8:7:7::/64"')
  const once = /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const fields = { once, name: 'One', preset: 'billing', expires: '', allowed_networks: '192.0.2.9/24, ::1' }
  const bad = await submit(keys, owner.token, { ...fields, allowed_networks: 'here' })
  expect([bad.status, bad.text.includes('ust be a block of IP addresses')]).toEqual([422, true])
  const made = await submit(keys, owner.token, { ...fields, network_here: '2001:db8:7:7::/64', rate_limit: '60' })
  expect(made.status).toBe(201)
  const { body } = await call('/platform/v1/api-keys', { token: owner.token, project })
  const allowed_networks = ['192.0.2.0/24', '::1/128', '2001:db8:7:7::/64']
  expect(body.data[0]).toMatchObject({ allowed_networks, rate_limit: { per_minute: 60 } })
  const page = await visit(`${keys}/${body.data[0].id}`, owner.token)
  for (const said of [...allowed_networks, 'at most 60', 'allowed from 192.0.2.0/24']) expect(page.text).toContain(said)
})

it('changes only what was changed in the form, and takes the networks away again', async () => {
  const { project, owner, key } = await freshKey()
  const path = `${keysOf(project)}/${key.id}/edit`
  const details = async () => {
    const { body } = await call('/platform/v1/audit-log?action=api_key.updated', { token: owner.token, project })
    return body.data.map((entry: { details: unknown }) => entry.details)
  }
  const fields = { name: 'Two', expires: '', allowed_networks: '192.0.2.0/24\n192.0.2.0/24', rate_limit: '' }
  expect((await submit(path, owner.token, fields)).status).toBe(303)
  const { text } = await visit(path, owner.token)
  expect(text).toContain('>192.0.2.0/24</textarea>')
  expect((await submit(path, owner.token, { ...fields, name: 'Three' })).status).toBe(303)
  expect((await submit(path, owner.token, { ...fields, name: 'Three', allowed_networks: '' })).status).toBe(303)
  expect(await details()).toEqual([
    {
      ...{ name: 'Three', allowed_networks: null },
      before: { name: 'Three', allowed_networks: ['192.0.2.0/24'] },
    },
    { name: 'Three', before: { name: 'Two' } },
    {
      ...{ name: 'Two', allowed_networks: ['192.0.2.0/24'] },
      before: { name: 'test key', allowed_networks: null },
    },
  ])
})
