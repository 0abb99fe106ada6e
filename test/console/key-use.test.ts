import { expect, it } from 'vitest'
import { call, freshKey, mint, STORE } from '../harness'
import { visit } from './visit'

it('shows the use of a key, its refused calls, and that it is in use before it is revoked or rotated', async () => {
  const { project, owner, key, secret } = await freshKey()
  const keys = `/console/p/${project}/platform/settings/api-keys`
  const of = (what: string) => visit(`${keys}/${key.id}${what}`, owner.token)
  expect((await of('')).text).not.toContain('Recent refused requests')
  expect((await of('/revoke')).text).toContain('No requests with it were recorded in the last hour')
  const headers = { 'CF-Connecting-IP': '192.0.2.7', 'User-Agent': 'curl/8' }
  await call('/platform/v1/api-keys/self', { token: secret, project, headers, country: 'NL' })
  const refused = await call('/platform/v1/api-keys/key_none', { token: secret, project, headers, country: 'NL' })
  const { text } = await of('')
  const shown = ['Requests by day', '192.0.2.0/24', 'Netherlands', 'curl', 'Recent refused requests', 'not_found']
  for (const said of [...shown, refused.headers.get('X-Request-Id')]) expect(text).toContain(said)
  expect(text).not.toContain('192.0.2.7')
  // A refused call leaves nothing else that a page could show, so its id is there to be copied.
  const id = refused.headers.get('X-Request-Id')
  expect(text).toMatch(new RegExp(`<code id="of-${id}">${id}</code> <button type="button" data-copy="of-${id}"`))
  for (const what of ['/revoke', '/rotate'])
    expect((await of(what)).text).toContain('at least 2 requests in the last hour')
})

it('lists the keys that were not used for 90 days', async () => {
  const { project, owner, key } = await freshKey()
  await mint(owner.token, project, { name: 'A young key' })
  await STORE.prepare('UPDATE api_keys SET created_at = 1, name = ? WHERE id = ?').bind('An old key', key.id).run()
  const keys = `/console/p/${project}/platform/settings/api-keys`
  const all = await visit(keys, owner.token)
  const unused = await visit(`${keys}?unused_days=90`, owner.token)
  const names = ['A young key', 'An old key'] as const
  expect(names.map((name) => [all.text.includes(name), unused.text.includes(name)])).toEqual([
    [true, false],
    [true, true],
  ])
})
