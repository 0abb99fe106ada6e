import { beforeAll, describe, expect, it } from 'vitest'
import { ROLES, type Role } from '../../src/lib/access'
import { nameOf } from '../routes/of-app'
import { fieldsIn } from '../routes/row'
import { PAGE_ROWS } from '../routes/table'
import { auditRows, type Cast, formToken, newCast, PAGES, pageIn, visit } from './visit'

describe('the pages and roles', () => {
  let cast: Cast
  // Each session's token is read once: a walk over so many pages must stay within a minute's limit.
  const tokens = new Map<string, Promise<string>>()
  const tokenOf = (session: string) => {
    const known = tokens.get(session) ?? formToken(session)
    tokens.set(session, known)
    return known
  }
  beforeAll(async () => {
    cast = await newCast()
  })

  it('states a policy for every page, and every stated page exists', () => {
    const found = Object.fromEntries(PAGES.map((page) => [nameOf(page), page.meta.page]))
    expect(found).toEqual(Object.fromEntries(Object.entries(PAGE_ROWS).map(([name, { policy }]) => [name, policy])))
  })

  for (const page of PAGES) {
    const stated = PAGE_ROWS[nameOf(page)]
    if (stated === undefined || stated.policy === 'anyone') continue
    const isForm = page.method === 'POST'
    const send = async (token: string | null, signed = true, fields = {}) => {
      const path = pageIn(cast.world, page)
      const form_token = signed && token ? await tokenOf(token) : 'f'.repeat(64)
      return visit(path, token, isForm ? { form: { form_token, ...fields } } : {})
    }

    it(`${nameOf(page)} asks visitors who are not signed in to sign in`, async () => {
      const answer = await send(null)
      if (isForm && !page.path.endsWith('/sign-out')) {
        expect([answer.status, /<h1>(.*)<\/h1>/.exec(answer.text)?.[1]]).toEqual([401, 'Your session ended'])
        return
      }
      expect([answer.status, answer.text]).toEqual([303, ''])
      expect(answer.headers.get('Location')).toMatch(/^\/console\/sign-in/)
    })
    // These end the session or the membership, so nothing else can be tried with it.
    if (/sign-out|sessions\/:id\/end|POST .*\/leave/.test(nameOf(page))) continue
    if (stated.policy === 'user' || stated.policy === 'account') continue

    it(`${nameOf(page)} does not exist for a user who is not a member`, async () => {
      const answer = await send(cast.stranger)
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=UTF-8'])
      expect(answer.text).not.toContain(cast.world.key.name)
    })

    const { role } = stated
    it(`${nameOf(page)} requires the role ${role}`, async () => {
      const smallest = ROLES.indexOf(role)
      for (const role of ROLES.slice(0, smallest)) {
        const before = await auditRows(cast.world.project)
        const answer = await send(cast[role], true, fieldsIn(cast.world, stated))
        expect([role, answer.status]).toEqual([role, 403])
        expect(answer.text).toContain('<h1>')
        // A page is no call.
        expect(answer.text).not.toContain('This call')
        expect(await auditRows(cast.world.project)).toBe(before)
      }
      const answer = await send(cast[ROLES[smallest] as Role])
      expect([answer.status, [401, 403, 429, 500, 503].includes(answer.status)]).toEqual([answer.status, false])
    })

    if (isForm) {
      it(`${nameOf(page)} refuses a form that does not belong to the session`, async () => {
        const before = await auditRows(cast.world.project)
        expect((await send(cast.owner, false)).status).toBe(403)
        const path = pageIn(cast.world, page)
        const form = { form_token: await tokenOf(cast.owner) }
        for (const headers of FOREIGN) expect((await visit(path, cast.owner, { form, headers })).status).toBe(403)
        const others = { form_token: await tokenOf(cast.admin) }
        expect((await visit(path, cast.owner, { form: others })).status).toBe(403)
        expect(await auditRows(cast.world.project)).toBe(before)
      })
    }
  }

  it('shows a viewer no forms and no links to forms, except for signing out', async () => {
    for (const page of PAGES.filter(({ method }) => method === 'GET')) {
      const { status, text } = await visit(pageIn(cast.world, page), cast.viewer)
      if (
        status !== 200 ||
        /live|status|steps|first|payload|csv|sign-in|sessions|passkeys|second-factor|projects|reference|leave/.test(
          page.path,
        ) ||
        page.path === '/console'
      )
        continue
      const posts = [...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action)
      // The switch of modes and the menu of columns keep a choice in the browser.
      expect([page.path, posts.filter((action) => !/^\/console\/(mode|columns)$/.test(action ?? ''))]).toEqual([
        page.path,
        ['/console/sign-out'],
      ])
      expect(text).not.toMatch(
        /href="[^"]*\/(new|rotate|revoke|delete|remove|replay)(\?[^"]*)?"(?! rel="next")(?<!projects\/new")/,
      )
    }
  })

  it('does not let a developer rotate a key that has more scopes', async () => {
    const { text } = await visit(
      pageIn(cast.world, page('GET', '/console/p/:project/platform/settings/api-keys')),
      cast.developer,
    )
    expect(text).toContain('/revoke"')
    expect(text).not.toContain('/rotate"')
  })

  const page = (method: string, path: string) =>
    PAGES.find((one) => one.method === method && one.path === path) as (typeof PAGES)[number]
})

const FOREIGN = [
  { Origin: 'https://evil.example' },
  { Origin: 'null' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'none' },
]
