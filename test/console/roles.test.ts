import { beforeAll, describe, expect, it } from 'vitest'
import type { PagePolicy } from '../../src/http/meta'
import { ROLES, type Role } from '../../src/lib/access'
import { auditRows, type Cast, formToken, nameOf, newCast, PAGES, pathIn, visit } from './visit'

const KEYS = '/console/p/:project/platform/settings/api-keys'
const CONNECTIONS = '/console/p/:project/platform/billing/connections'
const MEMBERS = '/console/p/:project/platform/settings/members'
const DOMAINS = '/console/p/:project/platform/settings/domains'
const BILLING = '/console/p/:project/platform/billing'
const SSO = '/console/p/:project/platform/settings/sso'
const CONSUMERS = '/console/p/:project/platform/consumers'
const PLANS = `${BILLING}/plans`
const FEATURES = `${BILLING}/features`
const EVENTS = '/console/p/:project/platform/billing/webhooks'

/** Who may use each page and form. Written by hand, to compare with the policies of the pages. */
const STATED: Record<string, PagePolicy> = {
  'GET /console/sign-in': 'anyone',
  'POST /console/sign-in': 'anyone',
  'POST /console/sign-in/code': 'anyone',
  'GET /auth/sign-in': 'anyone',
  'POST /auth/sign-in': 'anyone',
  'GET /errors': 'anyone',
  'POST /console/sign-out': 'user',
  'GET /console': 'user',
  'GET /console/projects/new': 'account',
  'POST /console/projects': 'account',
  'POST /console/projects/:id/restore': 'user',
  'GET /console/confirm': 'user',
  'POST /console/confirm': 'user',
  'POST /console/confirm/code': 'user',
  'POST /console/sign-in/passkey': 'anyone',
  'POST /console/sign-in/passkey/options': 'anyone',
  'GET /console/passkeys': 'account',
  'POST /console/passkeys': 'account',
  'GET /console/passkeys/new': 'account',
  'POST /console/passkeys/options': 'account',
  'GET /console/passkeys/codes': 'account',
  'POST /console/passkeys/codes': 'account',
  'GET /console/passkeys/:id/rename': 'account',
  'POST /console/passkeys/:id/rename': 'account',
  'GET /console/passkeys/:id/delete': 'account',
  'POST /console/passkeys/:id/delete': 'account',
  'GET /console/second-factor': 'user',
  'POST /console/second-factor': 'user',
  'POST /console/second-factor/options': 'user',
  'POST /console/second-factor/code': 'user',
  'GET /console/sessions': 'user',
  'GET /console/sessions/activity': 'account',
  'POST /console/sessions/notices': 'account',
  'GET /console/sessions/end-all': 'user',
  'POST /console/sessions/end-all': 'user',
  'GET /console/sessions/erase': 'account',
  'POST /console/sessions/erase': 'account',
  'POST /console/sessions/:id/end': 'user',
  'GET /console/invitations/:id': 'user',
  'POST /console/invitations/:id/accept': 'user',
  'POST /console/invitations/:id/decline': 'user',
  'GET /console/reference': 'user',
  'GET /console/projects': 'user',
  'GET /console/p': 'user',
  'GET /console/invitations': 'user',
  'GET /console/passkeys/:id': 'user',
  [`GET ${MEMBERS}/:user`]: 'user',
  [`GET ${SSO}/:connection/tests`]: 'user',
  [`GET ${MEMBERS}/invitations/:id`]: 'user',
  [`GET ${CONNECTIONS}/:id/secrets`]: 'user',
  [`GET ${CONNECTIONS}/:id/secrets/:secret`]: 'user',
  'GET /console/p/:project/platform/consumers/:consumer/devices': 'user',
  'GET /console/p/:project/platform/consumers/:consumer/devices/:device': 'user',
  [`GET ${BILLING}/customers`]: 'user',
  [`GET ${BILLING}/customers/:vendor`]: 'user',
  [`GET ${FEATURES}/:key`]: 'user',
  [`GET ${CONSUMERS}/:consumer/grants/:grant`]: 'user',
  'GET /console/p/:project': 'projects:read',
  'GET /console/p/:project/steps': 'projects:read',
  'GET /console/p/:project/status': 'billing:read',
  'GET /console/p/:project/platform': 'projects:read',
  'GET /console/p/:project/platform/settings': 'projects:read',
  'GET /console/p/:project/platform/billing': 'billing:read',
  'GET /console/p/:project/platform/settings/general': 'projects:read',
  'POST /console/p/:project/platform/settings/general': 'projects:write',
  'GET /console/p/:project/platform/settings/general/delete': 'projects:read',
  'POST /console/p/:project/platform/settings/general/delete': 'projects:read',
  'POST /console/p/:project/platform/settings/general/settings': 'projects:write',
  'POST /console/p/:project/platform/settings/general/consumers': 'projects:write',
  'POST /console/p/:project/platform/settings/general/entitlements': 'projects:write',
  'GET /console/p/:project/reference': 'projects:read',
  [`GET ${KEYS}`]: 'api_keys:read',
  [`GET ${KEYS}/new`]: 'api_keys:write',
  [`POST ${KEYS}`]: 'api_keys:write',
  [`GET ${KEYS}/:id`]: 'api_keys:read',
  [`GET ${KEYS}/:id/edit`]: 'api_keys:write',
  [`POST ${KEYS}/:id/edit`]: 'api_keys:write',
  [`GET ${KEYS}/:id/rotate`]: 'api_keys:write',
  [`POST ${KEYS}/:id/rotate`]: 'api_keys:write',
  [`GET ${KEYS}/:id/revoke`]: 'api_keys:write',
  [`POST ${KEYS}/:id/revoke`]: 'api_keys:write',
  [`GET ${MEMBERS}`]: 'members:read',
  [`GET ${MEMBERS}/leave`]: 'members:read',
  [`POST ${MEMBERS}/leave`]: 'members:read',
  [`GET ${MEMBERS}/invitations`]: 'members:read',
  [`POST ${MEMBERS}/invitations`]: 'members:write',
  [`POST ${MEMBERS}/invitations/:id/resend`]: 'members:write',
  [`GET ${MEMBERS}/invitations/:id/revoke`]: 'members:write',
  [`POST ${MEMBERS}/invitations/:id/revoke`]: 'members:write',
  [`POST ${MEMBERS}/:user/role`]: 'members:write',
  [`POST ${MEMBERS}/:user/break-glass`]: 'members:write',
  [`GET ${SSO}`]: 'sso:read',
  [`GET ${SSO}/new`]: 'sso:write',
  [`POST ${SSO}`]: 'sso:write',
  [`GET ${SSO}/:id`]: 'sso:read',
  [`POST ${SSO}/:id`]: 'sso:write',
  [`POST ${SSO}/:id/activate`]: 'sso:write',
  [`GET ${SSO}/:id/disable`]: 'sso:write',
  [`POST ${SSO}/:id/disable`]: 'sso:write',
  [`POST ${SSO}/:connection/test`]: 'sso:write',
  [`GET ${SSO}/:connection/tests/:test`]: 'sso:read',
  [`GET ${SSO}/:connection/tests/:test/run`]: 'sso:read',
  [`GET ${SSO}/:id/enforce`]: 'sso:write',
  [`POST ${SSO}/:id/enforce`]: 'sso:write',
  [`GET ${SSO}/:id/delete`]: 'sso:write',
  [`POST ${SSO}/:id/delete`]: 'sso:write',
  'GET /auth/sso/start': 'anyone',
  'GET /sso/login/:login_id': 'anyone',
  'GET /sso/callback/:connection_id': 'anyone',
  [`GET ${MEMBERS}/:user/remove`]: 'members:write',
  [`POST ${MEMBERS}/:user/remove`]: 'members:write',
  [`GET ${DOMAINS}`]: 'domains:read',
  [`POST ${DOMAINS}`]: 'domains:write',
  [`GET ${DOMAINS}/:domain`]: 'domains:read',
  [`POST ${DOMAINS}/:domain/verify`]: 'domains:write',
  [`GET ${DOMAINS}/:domain/delete`]: 'domains:write',
  [`POST ${DOMAINS}/:domain/delete`]: 'domains:write',
  'GET /console/p/:project/platform/settings/audit-log': 'audit_log:read',
  [`GET ${CONNECTIONS}`]: 'connections:read',
  [`GET ${CONNECTIONS}/new`]: 'connections:write',
  [`POST ${CONNECTIONS}`]: 'connections:write',
  [`GET ${CONNECTIONS}/:id`]: 'connections:read',
  [`GET ${CONNECTIONS}/:id/first`]: 'connections:read',
  [`POST ${CONNECTIONS}/:id`]: 'connections:write',
  [`GET ${CONNECTIONS}/:id/disable`]: 'connections:write',
  [`GET ${CONNECTIONS}/:id/delete`]: 'connections:write',
  [`POST ${CONNECTIONS}/:id/delete`]: 'connections:write',
  [`POST ${CONNECTIONS}/:id/secrets`]: 'connections:write',
  [`GET ${CONNECTIONS}/:id/secrets/:secret/remove`]: 'connections:write',
  [`POST ${CONNECTIONS}/:id/secrets/:secret/remove`]: 'connections:write',
  [`GET ${EVENTS}`]: 'billing:read',
  [`GET ${EVENTS}/live`]: 'billing:read',
  [`GET ${EVENTS}/health`]: 'billing:read',
  [`GET ${EVENTS}/replay`]: 'billing:write',
  [`POST ${EVENTS}/replay`]: 'billing:write',
  [`GET ${EVENTS}/replays`]: 'billing:read',
  [`GET ${EVENTS}/replays/:replay`]: 'billing:read',
  [`GET ${EVENTS}/:event`]: 'billing:read',
  [`GET ${EVENTS}/:event/payload`]: 'billing:read',
  [`GET ${EVENTS}/:event/replay`]: 'billing:write',
  [`POST ${EVENTS}/:event/replay`]: 'billing:write',
  [`GET ${BILLING}/subscriptions`]: 'billing:read',
  [`GET ${BILLING}/subscriptions/:object`]: 'billing:read',
  [`GET ${BILLING}/invoices`]: 'billing:read',
  [`GET ${BILLING}/invoices/:object`]: 'billing:read',
  [`GET ${BILLING}/payment-methods`]: 'billing:read',
  [`GET ${BILLING}/payment-methods/:object`]: 'billing:read',
  [`GET ${BILLING}/customers/:vendor/:customer`]: 'billing:read',
  [`GET ${PLANS}`]: 'catalog:read',
  [`POST ${PLANS}`]: 'catalog:write',
  [`GET ${PLANS}/new`]: 'catalog:write',
  [`GET ${PLANS}/add`]: 'catalog:write',
  [`GET ${PLANS}/:plan`]: 'catalog:read',
  [`GET ${PLANS}/:plan/edit`]: 'catalog:write',
  [`POST ${PLANS}/:plan/edit`]: 'catalog:write',
  [`GET ${FEATURES}`]: 'catalog:read',
  [`POST ${FEATURES}`]: 'catalog:write',
  [`GET ${FEATURES}/new`]: 'catalog:write',
  [`GET ${FEATURES}/:key/edit`]: 'catalog:write',
  [`POST ${FEATURES}/:key/edit`]: 'catalog:write',
  [`GET ${FEATURES}/:key/delete`]: 'catalog:write',
  [`POST ${FEATURES}/:key/delete`]: 'catalog:write',
  [`GET ${CONSUMERS}/:consumer/entitlements`]: 'entitlements:read',
  [`GET ${CONSUMERS}/:consumer/grants`]: 'entitlements:read',
  [`POST ${CONSUMERS}/:consumer/grants`]: 'entitlements:write',
  [`GET ${CONSUMERS}/:consumer/grants/new`]: 'entitlements:write',
  [`GET ${CONSUMERS}/:consumer/grants/:grant/revoke`]: 'entitlements:write',
  [`POST ${CONSUMERS}/:consumer/grants/:grant/revoke`]: 'entitlements:write',
  [`GET ${CONSUMERS}`]: 'consumers:read',
  [`POST ${CONSUMERS}`]: 'consumers:write',
  [`GET ${CONSUMERS}/new`]: 'consumers:write',
  [`GET ${CONSUMERS}/unlinked`]: 'billing:read',
  [`GET ${CONSUMERS}/:consumer`]: 'consumers:read',
  [`GET ${CONSUMERS}/:consumer/identities`]: 'user',
  [`GET ${CONSUMERS}/:consumer/identities/:identity`]: 'user',
  [`GET ${CONSUMERS}/:consumer/identities/:identity/remove`]: 'sso:write',
  [`POST ${CONSUMERS}/:consumer/identities/:identity/remove`]: 'sso:write',
  [`GET ${CONSUMERS}/:consumer/devices/:device/revoke`]: 'consumers:write',
  [`POST ${CONSUMERS}/:consumer/devices/:device/revoke`]: 'consumers:write',
  [`GET ${CONSUMERS}/:consumer/erase`]: 'consumers:erase',
  [`POST ${CONSUMERS}/:consumer/erase`]: 'consumers:erase',
  [`GET ${CONSUMERS}/:consumer/edit`]: 'consumers:write',
  [`POST ${CONSUMERS}/:consumer/edit`]: 'consumers:write',
  [`GET ${CONSUMERS}/:consumer/block`]: 'consumers:write',
  [`POST ${CONSUMERS}/:consumer/block`]: 'consumers:write',
  [`GET ${CONSUMERS}/:consumer/unblock`]: 'consumers:write',
  [`POST ${CONSUMERS}/:consumer/unblock`]: 'consumers:write',
  [`GET ${CONSUMERS}/:consumer/merge`]: 'consumers:write',
  [`POST ${CONSUMERS}/:consumer/merge`]: 'consumers:write',
  [`GET ${BILLING}/customers/:vendor/:customer/consumer`]: 'consumers:write',
  [`POST ${BILLING}/customers/:vendor/:customer/consumer`]: 'consumers:write',
  [`POST ${BILLING}/customers/:vendor/:customer/consumer/new`]: 'consumers:write',
  [`POST ${BILLING}/customers/:vendor/:customer/nobody`]: 'consumers:write',
  [`GET ${BILLING}/customers/:vendor/:customer/unpin`]: 'consumers:write',
  [`POST ${BILLING}/customers/:vendor/:customer/unpin`]: 'consumers:write',
}
const SMALLEST: Record<string, Role> = {
  'api_keys:write': 'developer',
  'billing:write': 'developer',
  'consumers:write': 'developer',
  'catalog:write': 'developer',
  'entitlements:write': 'developer',
  'domains:write': 'developer',
  'consumers:erase': 'admin',
  'connections:write': 'admin',
  'projects:write': 'admin',
  'members:write': 'admin',
  'audit_log:read': 'admin',
  'sso:write': 'admin',
}

const STRICTER: [string, Role][] = [
  ['/rotate', 'admin'], // The key has an owner's scopes, so a developer may not rotate it.
  ['/break-glass', 'owner'],
  ['/general/settings', 'owner'],
  ['/general/delete', 'owner'],
]

function roleFor(path: string, policy: string): Role {
  return STRICTER.find(([end]) => path.endsWith(end))?.[1] ?? SMALLEST[policy] ?? 'viewer'
}

describe('the pages and roles', () => {
  let cast: Cast
  beforeAll(async () => {
    cast = await newCast()
  })

  it('states a policy for every page, and every stated page exists', () => {
    const found = Object.fromEntries(PAGES.map((page) => [nameOf(page), page.meta.page]))
    expect(found).toEqual(STATED)
  })

  for (const page of PAGES) {
    const policy = STATED[nameOf(page)]
    if (policy === undefined || policy === 'anyone') continue
    const isForm = page.method === 'POST'
    const send = async (token: string | null, signed = true) => {
      const path = pathIn(cast.world, page)
      const form_token = signed && token ? await formToken(token) : 'f'.repeat(64)
      return visit(path, token, isForm ? { form: { form_token } } : {})
    }

    it(`${nameOf(page)} sends visitors who are not signed in to the sign-in page`, async () => {
      const answer = await send(null)
      expect(answer.status).toBe(303)
      expect(answer.headers.get('Location')).toMatch(/^\/console\/sign-in/)
      expect(answer.text).toBe('')
    })
    // These end the session or the membership, so nothing else can be tried with it.
    if (/sign-out|sessions\/:id\/end|POST .*\/leave/.test(nameOf(page))) continue
    if (policy === 'user' || policy === 'account') continue

    it(`${nameOf(page)} does not exist for a user who is not a member`, async () => {
      const answer = await send(cast.stranger)
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=UTF-8'])
      expect(answer.text).not.toContain(cast.world.key.name)
    })

    const role = roleFor(page.path, policy)
    it(`${nameOf(page)} requires the role ${role}`, async () => {
      const smallest = ROLES.indexOf(role)
      for (const role of ROLES.slice(0, smallest)) {
        const before = await auditRows(cast.world.project)
        const answer = await send(cast[role])
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
        const path = pathIn(cast.world, page)
        const form = { form_token: await formToken(cast.owner) }
        for (const headers of FOREIGN) expect((await visit(path, cast.owner, { form, headers })).status).toBe(403)
        const others = { form_token: await formToken(cast.admin) }
        expect((await visit(path, cast.owner, { form: others })).status).toBe(403)
        expect(await auditRows(cast.world.project)).toBe(before)
      })
    }
  }

  it('shows a viewer no forms and no links to forms, except for signing out', async () => {
    for (const page of PAGES.filter(({ method }) => method === 'GET')) {
      const { status, text } = await visit(pathIn(cast.world, page), cast.viewer)
      if (
        status !== 200 ||
        /live|status|steps|first|payload|sign-in|sessions|passkeys|second-factor|projects|reference|leave/.test(
          page.path,
        ) ||
        page.path === '/console'
      )
        continue
      const posts = [...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action)
      expect([page.path, posts]).toEqual([page.path, ['/console/sign-out']])
      expect(text).not.toMatch(
        /href="[^"]*\/(new|rotate|revoke|delete|remove|replay)(\?[^"]*)?"(?! rel="next")(?<!projects\/new")/,
      )
    }
  })

  it('does not let a developer rotate a key that has more scopes', async () => {
    const { text } = await visit(pathIn(cast.world, page('GET', KEYS)), cast.developer)
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
