import { beforeAll, expect, it } from 'vitest'
import { type as, forgetCheck, newApi, newName, publish, texts, zone } from '../domains/domains'
import { addMember, DIRECTORY } from '../harness'
import { submit, visit } from './visit'

let project: string
let owner: { token: string }
let api: ReturnType<typeof as>
let pages: string
beforeAll(async () => {
  ;({ project, owner, api } = await newApi())
  pages = `/console/p/${project}/platform/settings/domains`
})

it('a domain is added, checked and deleted', async () => {
  const hostname = newName()
  const added = await submit(pages, owner.token, { hostname, purpose: 'surface' })
  const path = added.headers.get('Location')?.split('?')[0] as string
  expect(path).toMatch(/\/domains\/dom_\w+$/)
  const { text } = await visit(path, owner.token)
  expect(text).toContain(`_platform-challenge.${hostname}`)
  expect(text).toContain(`${hostname} CNAME surfaces.platform.test`)
  expect(text).not.toContain('DNS check results')

  const { body } = await api.get(path.split('/').at(-1) as string)
  await zone(hostname, { 'dns.google': texts('platform-verify=old'), 'cloudflare-dns.com': { rcode: 'NXDOMAIN' } })
  expect((await submit(`${path}/verify`, owner.token)).status).toBe(303)
  const seen = (await visit(path, owner.token)).text
  for (const words of [
    '1 value, but not this one. It may be an old record, or another project’s',
    'platform-verify=old',
    'No such name',
  ]) {
    expect(seen).toContain(words)
  }
  const soon = await submit(`${path}/verify`, owner.token)
  expect([soon.status, soon.text.includes('was checked a moment ago')]).toEqual([429, true])
  await forgetCheck(body.id)
  await publish(body)
  await submit(`${path}/verify`, owner.token)
  expect((await visit(path, owner.token)).text).toContain('The value was found')
  expect((await visit(path, owner.token)).text).not.toContain('did not find your record')
  await forgetCheck(body.id)
  await zone(hostname, texts('other'))
  await submit(`${path}/verify`, owner.token)
  expect((await visit(path, owner.token)).text).toContain('did not find your record')

  expect((await visit(`${path}/delete`, owner.token)).text).toContain('stops serving pages')
  expect((await submit(`${path}/delete`, owner.token)).headers.get('Location')).toBe(`${pages}?done=domain_deleted`)
  expect((await visit(pages, owner.token)).text).not.toContain(hostname)
})

it('says what is wrong with a name, and keeps what was entered', async () => {
  const { status, text } = await submit(pages, owner.token, { hostname: 'co.uk', purpose: 'surface' })
  expect(status).toBe(422)
  expect(text).toContain('value="co.uk"')
  expect(text).toContain('anyone can register names')
  const hostname = newName()
  await submit(pages, owner.token, { hostname, purpose: 'surface' })
  expect((await submit(pages, owner.token, { hostname, purpose: 'surface' })).status).toBe(409)
})

it('offers a developer no domain for single sign-on', async () => {
  const { token } = await addMember(project, 'developer')
  const { text } = await visit(pages, token)
  expect([text.includes('value="surface"'), text.includes('value="sso"')]).toEqual([true, false])
  expect((await submit(pages, token, { hostname: newName(), purpose: 'sso' })).status).toBe(403)
})

it('warns on every page of the project while a domain is in grace', async () => {
  const { body } = await api.add(newName())
  await DIRECTORY.prepare("UPDATE domains SET state = 'grace', grace_until = 1893456000000 WHERE id = ?")
    .bind(body.id)
    .run()
  for (const path of [pages, `/console/p/${project}`, `/console/p/${project}/platform/consumers`]) {
    const { text } = await visit(path, owner.token)
    expect(text).toContain(`${pages}/${body.id}`)
    expect(text).toMatch(/is missing\..*Single sign-on for it ends on.*2030/s)
  }
  const other = await newApi()
  expect((await visit(`/console/p/${other.project}`, other.owner.token)).text).not.toContain('is missing')
})
