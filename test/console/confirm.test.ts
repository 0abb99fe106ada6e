import { describe, expect, it } from 'vitest'
import { insertConsumer } from '../consumers/rows'
import { addMember, freshProject, type Mail, mailbox, mint, ORIGIN, unconfirm } from '../harness'
import { ownersIn } from '../members/members'
import { codeIn, current } from '../sessions/signing-in'
import { at } from './member-pages'
import { auditRows, submit, type Visit, visit } from './visit'

const ASK = '/console/confirm'

/** An owner whose session is not confirmed, and a member. */
async function stale() {
  const { project, owner } = await freshProject()
  const member = await addMember(project, 'viewer')
  await unconfirm(owner.user)
  return { project, owner, member, list: at(project) }
}

/** Asks for a code on the page, as a browser does. */
async function codeFor(token: string, next: string, options: Visit = {}) {
  const { EMAIL, mails } = mailbox()
  const page = await submit(`${ASK}/code`, token, { next }, { bindings: { EMAIL }, ...options })
  const challenge = /name="challenge" value="(chl_\w+)"/.exec(page.text)?.[1] ?? ''
  return { page, challenge, mail: mails[0] as Mail, code: codeIn(mails[0]) }
}

describe('a form that requires a confirmation', () => {
  it('leads to the page that confirms, and from there back to its own page', async () => {
    const { owner, member, list } = await stale()
    const form = { role: 'owner', from: 'viewer' }
    const headers = { Referer: `${ORIGIN}${list}` }
    const refused = await submit(`${list}/${member.user}/role`, owner.token, form, { headers })
    const target = `${ASK}?next=${encodeURIComponent(list)}`
    expect([refused.status, refused.headers.get('Location')]).toEqual([303, target])

    const asked = await visit(target, owner.token)
    expect(asked.text).toContain('Nothing has been changed yet')
    expect(asked.text).toContain(owner.email)
    const { page, challenge, code, mail } = await codeFor(owner.token, list)
    expect(page.status).toBe(200)
    expect(mail.to).toBe(owner.email)
    expect(mail.text).not.toContain('http') // a link would sign in
    expect(page.text).not.toContain(code)

    const mistyped = await submit(ASK, owner.token, { next: list, challenge, code: 'AAAAAAAA' })
    expect(mistyped.status).toBe(401)
    expect(mistyped.text).toContain('This code is incorrect')
    expect(mistyped.text).toContain(`value="${challenge}"`)
    const done = await submit(ASK, owner.token, { next: list, challenge, code })
    expect([done.status, done.headers.get('Location')]).toEqual([303, `${list}?done=confirmed`])
    expect((await visit(`${list}?done=confirmed`, owner.token)).text).toContain('You have confirmed your identity')
    expect((await submit(`${list}/${member.user}/role`, owner.token, form, { headers })).status).toBe(303)
    expect((await visit(target, owner.token)).headers.get('Location')).toBe(list)
  })

  it.each(['leave', 'remove', 'demote'] as const)('is asked for before the page that warns: %s', async (what) => {
    const { project, owner, list } = await stale()
    const other = await addMember(project, 'owner')
    const form = { role: 'admin', from: 'owner' }
    const path = { leave: `${list}/leave`, remove: `${list}/${other.user}/remove`, demote: list }[what]
    const send = (sure: Record<string, string> = {}) =>
      what === 'demote'
        ? submit(
            `${list}/${other.user}/role`,
            owner.token,
            { ...form, ...sure },
            { headers: { Referer: ORIGIN + list } },
          )
        : visit(path, owner.token)
    const refused = await send()
    expect(refused.headers.get('Location')).toBe(`${ASK}?next=${encodeURIComponent(path)}`)
    await unconfirm(owner.user, 0)
    expect((await send()).status).toBe(200)
    // The confirmation expires while the page is open.
    await unconfirm(owner.user)
    const post = what === 'demote' ? `${list}/${other.user}/role` : path
    const headers = { Referer: ORIGIN + post }
    const late = await submit(post, owner.token, { ...form, sure: 'true' }, { headers })
    expect(late.headers.get('Location')).toBe(`${ASK}?next=${encodeURIComponent(path)}`)
    expect(await ownersIn(project)).toBe(2)
  })

  it.each([
    ['erasing a consumer', 'consumers/:id/erase', {}],
    [
      'minting a key with administrative scopes',
      'settings/api-keys',
      { name: 'x', preset: 'all', expires: '90', on: '' },
    ],
    [
      'inviting an admin',
      'settings/members/invitations',
      { email: 'a@example.com', role: 'admin', expires_in_days: '7' },
    ],
  ])('is asked for: %s', async (_, path, fields) => {
    const { project, owner } = await stale()
    const to = `/console/p/${project}/platform/${path.replace(':id', await insertConsumer(project, 'one'))}`
    const before = await auditRows(project)
    const headers = { Referer: ORIGIN + to }
    const refused = await submit(to, owner.token, fields, { headers })
    expect([refused.status, refused.headers.get('Location')]).toEqual([303, `${ASK}?next=${encodeURIComponent(to)}`])
    expect(await auditRows(project)).toBe(before)
  })

  it('is asked for before the page that rotates a key with administrative scopes, and by its form', async () => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project)
    const plain = await mint(owner.token, project, { scopes: ['billing:read'] })
    await unconfirm(owner.user)
    const path = (id: string) => `/console/p/${project}/platform/settings/api-keys/${id}/rotate`
    const headers = { Referer: ORIGIN + path(key.id) }
    const before = await auditRows(project)
    for (const answer of [
      await visit(path(key.id), owner.token),
      await submit(path(key.id), owner.token, { known: key.key_prefix }, { headers }),
    ]) {
      const to = `${ASK}?next=${encodeURIComponent(path(key.id))}`
      expect([answer.status, answer.headers.get('Location')]).toEqual([303, to])
    }
    expect(await auditRows(project)).toBe(before)
    expect((await visit(path(plain.key.id), owner.token)).status).toBe(200)
    expect((await visit(path(key.id).replace('rotate', 'revoke'), owner.token)).status).toBe(200)
  })

  it('says without a question that the only owner cannot leave', async () => {
    const { owner, list } = await stale()
    expect((await visit(`${list}/leave`, owner.token)).text).toContain('You cannot leave this project')
  })

  it('leads a partial update there too', async () => {
    const { project, owner, list } = await stale()
    const other = await addMember(project, 'owner')
    const path = `${list}/${other.user}/remove`
    const answer = await visit(path, owner.token, { headers: { 'HX-Request': 'true' } })
    expect([answer.status, answer.headers.get('HX-Redirect')]).toEqual([401, `${ASK}?next=${encodeURIComponent(path)}`])
  })
})

describe('the page that confirms', () => {
  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/auth/x', 'javascript:x', '/consoles', ''])(
    'returns to the console alone, not to %j',
    async (next) => {
      const { owner } = await stale()
      const headers = { Referer: next }
      const asked = await visit(`${ASK}?next=${encodeURIComponent(next)}`, owner.token, { headers })
      expect(asked.text).toContain('name="next" value="/console"')
      const { challenge, code } = await codeFor(owner.token, next)
      const done = await submit(ASK, owner.token, { next, challenge, code })
      expect(done.headers.get('Location')).toBe('/console?done=confirmed')
    },
  )

  it.each(['https://evil.example/console/x', `${ORIGIN}.evil.example/console/x`, 'nonsense', ''])(
    'follows no Referer of another site: %j',
    async (referer) => {
      const { project, owner, list } = await stale()
      await addMember(project, 'owner')
      const headers = { Referer: referer }
      const refused = await submit(`${list}/leave`, owner.token, {}, { headers })
      expect(refused.headers.get('Location')).toBe(`${ASK}?next=%2Fconsole`)
      expect(await ownersIn(project)).toBe(2)
    },
  )

  it('sends codes only to the address of the session, and takes no other code', async () => {
    const [one, two] = [await stale(), await stale()]
    const theirs = await codeFor(two.owner.token, '/console')
    const { challenge, code } = theirs
    const refused = await submit(ASK, one.owner.token, { next: '/console', challenge, code })
    expect(refused.status).toBe(401)
    const until = (await current(one.owner.token)).body.session.confirmed_until
    expect(Date.parse(until)).toBeLessThan(Date.now())
  })
})
