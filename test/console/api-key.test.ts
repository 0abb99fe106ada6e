import { beforeAll, describe, expect, it } from 'vitest'
import { DAY, iso } from '../../src/lib/time'
import { addMember, call, DIRECTORY, freshProject, mint, STORE } from '../harness'
import { formToken, submit, visit } from './visit'

const keysOf = (project: string) => `/console/p/${project}/platform/settings/api-keys`

describe('the page of an API key', () => {
  it('shows what it may do, who made it, and its history to those who may read the audit log', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project, { name: 'Importer <b>', scopes: ['api_keys:write'] })
    const patch = { method: 'PATCH', token: secret, project, json: { name: 'Now <b>' } }
    await call(`/platform/v1/api-keys/${key.id}`, patch)
    await mint(owner.token, project, { name: 'Another key' })
    const path = `${keysOf(project)}/${key.id}`
    const { status, text } = await visit(path, owner.token)
    expect(status).toBe(200)
    expect(text).toContain('<h1>Now &lt;b&gt; </h1>')
    expect(text).toContain(`<dt>Created by</dt><dd><span class="cut">${owner.email}</span>`)
    const [, history = ''] = text.split('<h2>History</h2>')
    expect([...history.matchAll(/data-label="What">([^<]+)</g)].map(([, did]) => did)).toEqual([
      'Changed an API key',
      'Created an API key',
    ])
    expect(history).toContain(`“Now &lt;b&gt;”</a>`)
    expect(text).not.toContain('<b>')
    expect(text).not.toContain('Another key')
    for (const verb of ['edit', 'rotate', 'revoke']) expect(text).toContain(`href="${path}/${verb}"`)
    const [developer, viewer] = [await addMember(project, 'developer'), await addMember(project, 'viewer')]
    const seen = await visit(path, developer.token)
    expect([seen.status, seen.text.includes('History'), seen.text.includes(`${path}/revoke`)]).toEqual([
      200,
      false,
      true,
    ])
    expect((await visit(path, viewer.token)).text).not.toContain(`${path}/`)
  })

  it('stays after the key was revoked, without actions', async () => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project)
    const path = `${keysOf(project)}/${key.id}`
    await submit(`${path}/revoke`, owner.token)
    const { status, text } = await visit(path, owner.token)
    expect([status, text.includes('The key was revoked at')]).toEqual([200, true])
    expect(text).not.toContain(`${path}/`)
    expect(text).toContain('Revoked an API key')
  })

  it('does not exist for another project, or without the key', async () => {
    const [mine, theirs] = [await freshProject(), await freshProject()]
    const { key } = await mint(theirs.owner.token, theirs.project)
    for (const id of [key.id, 'key_none', '%3Cb%3E']) {
      const { status } = await visit(`${keysOf(mine.project)}/${id}`, mine.owner.token)
      expect([id, status]).toEqual([id, 404])
    }
  })

  it.each([
    [-1, 'expired', 'The key expired at'],
    [13, 'expires soon', ''],
    [15, null, ''],
    [null, null, ''],
  ])('marks a key that expires in %s days: %s', async (days, badge, warning) => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project)
    const at = days === null ? null : Date.now() + days * DAY
    await STORE.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?').bind(at, key.id).run()
    for (const path of [keysOf(project), `${keysOf(project)}/${key.id}`]) {
      const { text } = await visit(path, owner.token)
      const badges = ['expired', 'expires soon'].filter((word) => new RegExp(`class="badge \\w+">${word}<`).test(text))
      expect([path, badges]).toEqual([path, badge === null ? [] : [badge]])
      if (path.includes('/key_')) expect(text.includes('role="note"')).toBe(warning !== '')
      if (path.includes('/key_')) expect(text).toContain(warning)
    }
  })

  it('says that whoever created it has left the project', async () => {
    const { project, owner } = await freshProject()
    const leaver = await addMember(project, 'developer')
    const { key } = await mint(leaver.token, project)
    const pages = [keysOf(project), `${keysOf(project)}/${key.id}`]
    for (const path of pages) expect((await visit(path, owner.token)).text).not.toContain('former member')
    await DIRECTORY.prepare('DELETE FROM members WHERE user_id = ?').bind(leaver.user).run()
    for (const path of pages) {
      const { text } = await visit(path, owner.token)
      expect([path, text.includes(leaver.email), text.includes('former member')]).toEqual([path, true, true])
    }
  })
})

describe('the scopes of a new key', () => {
  let project: string
  let developer: string
  let owner: string
  beforeAll(async () => {
    const made = await freshProject()
    project = made.project
    owner = made.owner.token
    developer = (await addMember(project, 'developer')).token
  })
  const scopesOf = async (token: string, fields: Record<string, string>, ticked: string[] = []) => {
    const form = new URLSearchParams({ form_token: await formToken(token), name: 'New', ...fields })
    for (const scope of ticked) form.append('scope', scope)
    const { status, text } = await visit(keysOf(project), token, { form })
    const secret = /svc_v1_[0-9a-f]{96}/.exec(text)?.[0] ?? ''
    const { body } = await call('/platform/v1/api-keys/self', { token: secret, project })
    return [status, body.key?.scopes]
  }

  it.each([
    ['application', ['consumers:read', 'consumers:write', 'entitlements:read']],
    ['sign_in', ['consumers:read', 'sso:use']],
    ['copy', ['projects:read', 'billing:read', 'consumers:read', 'catalog:read', 'entitlements:read']],
    ['billing', ['billing:read']],
    ['replays', ['billing:read', 'billing:write', 'connections:read']],
    [
      'read',
      [
        'projects:read',
        'members:read',
        'api_keys:read',
        'billing:read',
        'connections:read',
        'consumers:read',
        'catalog:read',
        'entitlements:read',
        'domains:read',
        'sso:read',
        'webhooks:read',
      ],
    ],
    [
      'all',
      [
        'projects:read',
        'members:read',
        'api_keys:read',
        'billing:read',
        'connections:read',
        'consumers:read',
        'catalog:read',
        'entitlements:read',
        'domains:read',
        'sso:read',
        'webhooks:read',
        'api_keys:write',
        'billing:write',
        'consumers:write',
        'catalog:write',
        'entitlements:write',
        'domains:write',
        'sso:use',
      ],
    ],
  ])('with the preset %s are those of the preset, whatever is ticked', async (preset, scopes) => {
    expect(await scopesOf(developer, { preset }, ['api_keys:write'])).toEqual([201, scopes])
  })

  it.each(['custom', 'unknown', ''])('without a preset (%s) are those that are ticked', async (preset) => {
    expect(await scopesOf(developer, { preset }, ['members:read'])).toEqual([201, ['members:read']])
    expect((await scopesOf(developer, { preset }))[0]).toBe(422)
    expect((await scopesOf(developer, { preset }, ['connections:write']))[0]).toBe(403)
  })

  it('are offered if the role has them; an application server is the first choice, and 90 days', async () => {
    const offered = async (token: string) => {
      const { text } = await visit(`${keysOf(project)}/new`, token)
      return {
        all: [...text.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => scope),
        ticked: [...text.matchAll(/name="scope" value="([^"]+)" checked/g)].map(([, scope]) => scope),
        preset: /name="preset" value="(\w+)" checked/.exec(text)?.[1],
        expires: /<option value="(\w*)" selected/.exec(text)?.[1],
      }
    }
    const [less, all] = [await offered(developer), await offered(owner)]
    expect([less.all.length, all.all.length]).toEqual([18, 25])
    for (const { ticked, preset, expires } of [less, all]) {
      expect([ticked, preset, expires]).toEqual([
        ['consumers:read', 'consumers:write', 'entitlements:read'],
        'application',
        '90',
      ])
    }
    const minted = await scopesOf(developer, { preset: 'billing', expires: '90' })
    expect(minted[0]).toBe(201)
    const { body } = await call('/platform/v1/api-keys?limit=1', { token: owner, project })
    const end = Date.parse(body.data[0].expires_at)
    expect(iso(end).slice(0, 10)).toBe(iso(Date.now() + 90 * DAY).slice(0, 10))
  })
})
