import { describe, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import { addMember, call, DIRECTORY, freshProject, signedIn, unconfirm } from '../harness'
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
    ['owner', true, 'You can do everything in this project.'],
    ['viewer', false, 'change nothing'],
  ] as const)('show the role %s', async (role, renames, words) => {
    const { project } = await freshProject('Shown')
    const { token } = await addMember(project, role)
    const { text } = await visit(`/console/p/${project}/platform/settings/general`, token)
    expect([text.includes('name="name"'), text.includes(words), text.includes('Shown')]).toEqual([renames, true, true])
    const limits = await visit(`/console/p/${project}/platform/settings/general?tab=limits`, token)
    expect(limits.text).toContain('<dt>Payloads are kept for</dt><dd>90 days</dd>')
  })
})

describe('the settings of consumers', () => {
  it('are changed by an admin, shown to a viewer, and refused with what was typed', async () => {
    const { project, owner } = await freshProject()
    const general = `/console/p/${project}/platform/settings/general`
    const admin = await addMember(project, 'admin')
    const send = (fields: Record<string, string>) => submit(`${general}/consumers`, admin.token, fields)
    const done = await send({ link_hints: 'false', consumer_keys: ' app_user, , user_id ', max_devices: '3' })
    expect([done.status, done.headers.get('Location')]).toEqual([303, `${general}?tab=consumers&done=settings_changed`])
    const { settings } = (await call(`/platform/v1/projects/${project}`, { token: owner.token })).body
    expect(settings).toMatchObject({ link_hints: false, consumer_keys: ['app_user', 'user_id'], max_devices: 3 })
    const page = (await visit(`${general}?tab=consumers`, admin.token)).text
    expect(page).toContain('value="app_user, user_id"')
    for (const wrong of [
      { consumer_keys: 'a b', max_devices: '3' },
      { consumer_keys: 'a', max_devices: '0' },
    ]) {
      const refused = await send(wrong)
      expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true])
      expect(refused.text).toContain(`value="${wrong.consumer_keys}"`)
    }
    // A form that was opened before there was a field leaves what is stored, and an empty box says so.
    expect((await send({ link_hints: 'true' })).status).toBe(303)
    expect((await send({ max_devices: '3' })).status).toBe(303)
    const kept = (await call(`/platform/v1/projects/${project}`, { token: owner.token })).body.settings
    expect(kept).toMatchObject({ link_hints: true, consumer_keys: ['app_user', 'user_id'], max_devices: 3 })
    expect((await send({ link_hints: 'false' })).status).toBe(303)
    const feature = { name: 'Seats', type: 'quantity' }
    await call('/platform/v1/billing/features/seats', { method: 'PUT', project, token: owner.token, json: feature })
    const featured = { consumer_keys: 'a', max_devices: '3', devices_feature: 'seats' }
    const unknown = await send({ ...featured, devices_feature: 'nope' })
    expect([unknown.status, unknown.text.includes('Must be a quantity feature of the project')]).toEqual([422, true])
    expect((await send(featured)).status).toBe(303)
    expect((await visit(`${general}?tab=consumers`, admin.token)).text).toContain('value="seats"')
    const theirs = (await visit(`${general}?tab=consumers`, (await addMember(project, 'viewer')).token)).text
    expect(theirs).toContain('set by the feature <code>seats</code>')
    expect((await send({ consumer_keys: 'a', max_devices: '3', devices_feature: '' })).status).toBe(303)
    const after = (await call(`/platform/v1/projects/${project}`, { token: owner.token })).body.settings
    expect(after.devices_feature).toBeNull()
    expect(theirs).toContain('Their own metadata only')
    expect(theirs).not.toContain('name="max_devices"')
  })
})

describe('the settings of entitlements', () => {
  it('are changed by an admin, shown to a viewer, and refused with what was typed', async () => {
    const { project, owner } = await freshProject()
    const general = `/console/p/${project}/platform/settings/general`
    const send = (fields: Record<string, string>) => submit(`${general}/entitlements`, owner.token, fields)
    const settings = async () => (await call(`/platform/v1/projects/${project}`, { token: owner.token })).body.settings
    const done = await send({ grace_days: '', renewal_slack_hours: '0', test_mode_counts: 'true' })
    expect([done.status, done.headers.get('Location')]).toEqual([
      303,
      `${general}?tab=entitlements&done=settings_changed`,
    ])
    expect(await settings()).toMatchObject({ grace_days: null, renewal_slack_hours: 0, test_mode_counts: true })
    // The log names only what a form changed, and a form that changes nothing leaves no entry.
    await send({ grace_days: '', renewal_slack_hours: '0', test_mode_counts: 'true' })
    await send({ grace_days: '', renewal_slack_hours: '5', test_mode_counts: 'true' })
    const log = await call('/platform/v1/audit-log?action=project.settings_changed', { project, token: owner.token })
    expect(log.body.data.map(({ details }: { details: object }) => details)).toEqual([
      { renewal_slack_hours: 5, before: { renewal_slack_hours: 0 } },
      {
        ...{ grace_days: null, renewal_slack_hours: 0, test_mode_counts: true },
        before: { grace_days: 7, renewal_slack_hours: 48, test_mode_counts: false },
      },
    ])
    const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
    const lines = [
      ['Days of access while a subscription is past due', '7 → as long as the vendor reports it'],
      ['Hours of access after a period ends', '48 → 0'],
      ['Test-mode subscriptions and purchases grant access', 'off → on'],
    ].map(([what, values]) => `<li><span class="quiet">${what}:</span> ${values}</li>`)
    expect(text).toContain(`Changed a setting<ul class="changes">${lines.join('')}</ul>`)
    for (const wrong of [
      { grace_days: '61', renewal_slack_hours: '1' },
      { grace_days: '1', renewal_slack_hours: '' },
      { grace_days: '1', renewal_slack_hours: '169' },
    ]) {
      const refused = await send(wrong)
      expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true])
      expect(refused.text).toContain(`value="${wrong.grace_days}"`)
    }
    expect(await settings()).toMatchObject({ grace_days: null, renewal_slack_hours: 5, test_mode_counts: true })
    const theirs = (await visit(`${general}?tab=entitlements`, (await addMember(project, 'viewer')).token)).text
    expect(theirs).toContain('as long as the vendor reports it')
    expect(theirs).not.toContain('name="grace_days"')
  })
})

describe('the rules of purchases', () => {
  it('are changed by an admin as by the API, shown to a viewer, and refused with what was chosen', async () => {
    const { project, owner } = await freshProject()
    const general = `/console/p/${project}/platform/settings/general`
    const { token } = await addMember(project, 'admin')
    const rules = { refunded_part: 'end', refunded_whole: 'keep', dispute_open: 'keep', dispute_lost: 'end' }
    const stored = async () =>
      (await call(`/platform/v1/projects/${project}`, { token: owner.token })).body.settings.purchase_rules
    const before = await stored()
    for (const wrong of [{ ...rules, dispute_open: 'end' }, { refunded_part: 'end' }]) {
      const refused = await submit(`${general}/purchases`, token, wrong)
      expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true])
      expect(refused.text).toMatch(/name="refunded_part".*?value="end" selected/s)
    }
    expect(await stored()).toEqual(before)
    const done = await submit(`${general}/purchases`, token, rules)
    expect([done.status, done.headers.get('Location')]).toEqual([303, `${general}?tab=purchases&done=settings_changed`])
    expect(await stored()).toEqual(rules)
    const log = await call(`/platform/v1/audit-log?action=project.settings_changed`, { project, token: owner.token })
    expect(log.body.data.map(({ details }: { details: object }) => details)).toEqual([
      { purchase_rules: rules, before: { purchase_rules: before } },
    ])
    const theirs = (await visit(`${general}?tab=purchases`, (await addMember(project, 'viewer')).token)).text
    expect(theirs).toContain('<dt>While a dispute is open</dt><dd>The purchase keeps granting access</dd>')
    expect(theirs).not.toContain('name="dispute_open"')
    expect((await submit(`${general}/purchases`, (await addMember(project, 'viewer')).token, rules)).status).toBe(403)
  })
})

it.each([
  ['/console/?done=project_left', '/console?done=project_left'],
  ['/console//evil.example//', '/console//evil.example'],
  ['/console/%5C%5Cevil.example/', '/console/%5C%5Cevil.example'],
  ['/console/x%0D%0ASet-Cookie:a=b/', '/console/x%0D%0ASet-Cookie:a=b'],
  ['/console/%00/%C3%A9%F0%9F%98%80/', '/console/%00/%C3%A9%F0%9F%98%80'],
])('%s, which has a slash at its end, leads to the address without it', async (path, to) => {
  const { status, headers } = await visit(path, null)
  expect([status, headers.get('Location')]).toEqual([301, to])
})

it('an address above a page leads to it, whatever is in it', async () => {
  const { project, owner } = await freshProject()
  const to = `/console/p/${project}/platform/consumers/x%0D%0Ay%00`
  const { status, headers } = await visit(`${to}/devices`, owner.token)
  expect([status, headers.get('Location')]).toEqual([303, to])
})

describe('the menu of projects', () => {
  it('has a field where there are more than it shows, which finds projects by a part of their name', async () => {
    const { project, owner } = await freshProject('First')
    const make = (name: string) => call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name } })
    const links = ({ text }: { text: string }) =>
      [...text.matchAll(/<a [^>]*href="\/console\/p\/(\w+)([^"]*)"[^>]*>([^<]*)/g)].map(([, id, rest, name]) => ({
        id,
        rest,
        name,
      }))
    const headers = { 'HX-Target': 'projects-found' }
    const typed = async (q: string, token = owner.token) =>
      links(await visit(`/console?section=invoices&q=${encodeURIComponent(q)}`, token, { headers }))

    for (let n = 2; n <= 8; n++) await make(`Project ${n}`)
    expect((await visit('/console', owner.token)).text).not.toContain('Find a project')
    await make('100% <b>')
    const start = await visit('/console', owner.token)
    expect(start.text.match(/aria-label="Find a project"/g)).toHaveLength(1)
    expect(start.text.slice(0, start.text.indexOf('<main'))).not.toContain(project)

    const rest = '/platform/billing/invoices'
    for (const q of ['fIRs', ' First ', project]) expect(await typed(q)).toEqual([{ id: project, rest, name: 'First' }])
    expect(await typed('project')).toHaveLength(7)
    expect(await typed('')).toHaveLength(8)
    expect((await typed('100%')).map(({ name }) => name)).toEqual(['100% &lt;b&gt;'])
    expect(await typed('First', (await signedIn()).token)).toEqual([])
    // Without a script, the list of projects shows them.
    const found = await visit('/console?q=irst', owner.token)
    expect(links({ text: found.text.slice(found.text.indexOf('<main')) })).toEqual([
      { id: project, rest: '', name: 'First' },
    ])
    expect((await visit('/console?q=nothing', owner.token)).text).toContain('No project was found.')
  })
})

describe('the end of a project', () => {
  const at = (project: string) => `/console/p/${project}/platform/settings/general/delete`

  it('asks an owner for the name, who must be confirmed', async () => {
    const { project, owner } = await freshProject('Ends')
    const page = await visit(at(project), owner.token)
    expect([page.status, page.text.includes('Delete “Ends”?')]).toEqual([200, true])
    const wrong = await submit(at(project), owner.token, { typed: 'ends' })
    expect([wrong.status, wrong.text.includes('This is not the name of the project')]).toEqual([422, true])
    await unconfirm(owner.user)
    for (const answer of [await visit(at(project), owner.token), await submit(at(project), owner.token)]) {
      expect([answer.status, answer.headers.get('Location')?.startsWith('/console/confirm?next=')]).toEqual([303, true])
    }
    const general = await visit(at(project).replace('/delete', ''), (await addMember(project, 'admin')).token)
    expect(general.text).not.toContain('Delete this project')
  })

  it('shows deleted projects on the start page, and lets owners undo it', async () => {
    const { project, owner } = await freshProject('Ends')
    const viewer = await addMember(project, 'viewer')
    const done = await submit(at(project), owner.token, { typed: ' Ends ' })
    expect([done.status, done.headers.get('Location')]).toEqual([303, '/console?done=project_deleted'])
    const restore = `/console/projects/${project}/restore`
    const start = await visit('/console', owner.token)
    expect([start.text.includes('Deleted projects'), start.text.includes(restore)]).toEqual([true, true])
    expect(start.text).not.toContain(`/console/p/${project}`)
    // Not once its time is over, before the cron has begun with it.
    const endsIn = (ms: number) =>
      DIRECTORY.prepare('UPDATE projects SET purge_at = ? WHERE id = ?')
        .bind(Date.now() + ms, project)
        .run()
    await endsIn(-1)
    expect((await visit('/console', owner.token)).text).not.toContain('Deleted projects')
    await endsIn(DAY)
    const theirs = await visit('/console', viewer.token)
    expect([theirs.text.includes('Ask an owner'), theirs.text.includes(restore)]).toEqual([true, false])
    // So does every page of the project.
    for (const [{ token }, says, offers] of [
      [owner, 'Ends was deleted', true],
      [viewer, 'Ask an owner', false],
      [await signedIn(), 'Page not found', false],
    ] as const) {
      const { status, text } = await visit(`/console/p/${project}/platform/settings/api-keys`, token)
      expect([status, text.includes(says), text.includes(restore)]).toEqual([404, true, offers])
    }
    expect((await submit(restore, viewer.token)).status).toBe(403)
    const undone = await submit(restore, owner.token)
    expect([undone.status, undone.headers.get('Location')]).toEqual([
      303,
      `/console/p/${project}?done=project_restored`,
    ])
    expect((await visit('/console', owner.token)).text).not.toContain('Deleted projects')
  })
})
