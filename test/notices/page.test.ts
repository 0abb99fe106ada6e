import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { advance, stopClock } from '../clock'
import { submit, visit } from '../console/visit'
import { addMember, call, freshProject, STORE } from '../harness'
import { insertNotice } from './world'

/* The page “Notices” of the console, and the number of open notices that every page shows. */

const NOON = Date.parse('2026-11-27T12:00:00Z')
let project: string
let owner: string
let page: string
beforeAll(async () => {
  const made = await freshProject()
  project = made.project
  owner = made.owner.token
  page = `/console/p/${project}/platform/notices`
})
beforeEach(() => {
  stopClock()
})

/** The rows of the table: the link, the title, what it says and the state. */
async function listed(token = owner, query = '') {
  const { text } = await visit(`${page}${query}`, token)
  const row =
    /<a href="([^"]+)">([^<]+)<\/a><span class="line quiet">([^<]*)<\/span>.*?<span class="badge( warn)?">(\w+)</gs
  return [...text.matchAll(row)].map(([, href, title, says, warn, state]) => ({
    href,
    title,
    says,
    warn: warn !== undefined,
    state,
  }))
}
/** The number beside the bell of a page. */
async function bell(token = owner) {
  const { text } = await visit(`/console/p/${project}/platform/settings/api-keys`, token)
  return /Open notices:<\/span> (\d+)/.exec(text)?.[1] ?? null
}

describe('the page', () => {
  it('says that there are none, and offers to choose emails to those who get them', async () => {
    for (const role of ['owner', 'admin', 'developer', 'viewer'] as const) {
      const { token } = await addMember(project, role)
      const { status, text } = await visit(page, token)
      expect([role, status, text.includes('There are no notices.')]).toEqual([role, 200, true])
      // What fails without a notice is on the overview.
      expect([role, text.includes(`<a href="/console/p/${project}">Overview</a>`)]).toEqual([role, true])
      const offered = role === 'owner' || role === 'admin'
      expect([role, text.includes(`action="${page}/emails"`)]).toEqual([role, offered])
    }
  })

  it('has each notice with what it says, a link and its state, the newest first', async () => {
    await insertNotice(project, { object_id: 'con_1', closed_at: NOON, mail_due_at: null })
    advance(1)
    const facts = '{"object":"api_key","name":"a <b>","key_prefix":"svc_v1_1…2","ended":true}'
    await insertNotice(project, { kind: 'key_exposed', object_id: 'key_1', facts, mail_due_at: null })
    const of = `/console/p/${project}/platform`
    expect(await listed()).toEqual([
      {
        href: `${of}/settings/api-keys/key_1`,
        title: 'An API key was exposed',
        says: expect.stringContaining('The API key a &lt;b&gt; (svc_v1_1…2) was reported as exposed'),
        warn: true,
        state: 'open',
      },
      {
        href: `${of}/billing/connections/con_1`,
        title: 'A connection refuses every delivery',
        says: expect.stringContaining('refused 20 deliveries'),
        warn: false,
        state: 'closed',
      },
    ])
    expect(await bell()).toBe('1')
  })

  it('has no notice of another project', async () => {
    const other = await freshProject()
    const { text } = await visit(`/console/p/${other.project}/platform/notices`, other.owner.token)
    expect(text).toContain('There are no notices.')
    expect((await visit(page, other.owner.token)).status).toBe(404)
  })
})

describe('the emails that a member gets', () => {
  const chosen = async (token: string) => {
    const { text } = await visit(page, token)
    return /<option value="(\w+)" selected/.exec(text)?.[1]
  }
  const log = async () =>
    (await call('/platform/v1/audit-log?action=member.mail_chosen', { token: owner, project })).body.data.map(
      ({ details }: { details: unknown }) => details,
    )

  it('are chosen on the page, each time that it is another choice, for oneself alone', async () => {
    const admin = await addMember(project, 'admin')
    expect(await chosen(admin.token)).toBe('all')
    const steps = ['security', 'security', 'none', 'all'] as const
    for (const mail of steps) {
      advance(1)
      const { status, headers } = await submit(`${page}/emails`, admin.token, { mail })
      expect([status, headers.get('Location')]).toEqual([303, `${page}?done=project_emails_saved`])
      expect([await chosen(admin.token), await chosen(owner)]).toEqual([mail, 'all'])
    }
    expect(await log()).toEqual([{ mail: 'all' }, { mail: 'none' }, { mail: 'security' }])
  })

  it('are one of the three, and not for others to choose', async () => {
    const before = await log()
    for (const mail of ['some', '']) expect((await submit(`${page}/emails`, owner, { mail })).status).toBe(422)
    const viewer = await addMember(project, 'viewer')
    expect((await submit(`${page}/emails`, viewer.token, { mail: 'none' })).status).toBe(403)
    expect([await chosen(owner), await log()]).toEqual(['all', before])
  })
})

it('the number beside the bell is that of the open ones', async () => {
  await STORE.prepare('UPDATE notices SET closed_at = ? WHERE project_id = ?').bind(NOON, project).run()
  expect(await bell()).toBe(null)
  for (let n = 1; n <= 3; n++) {
    await insertNotice(project, { mail_due_at: null })
    expect(await bell()).toBe(String(n))
  }
  const viewer = await addMember(project, 'viewer')
  expect(await bell(viewer.token)).toBe('3')
})
