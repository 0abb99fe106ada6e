import { describe, expect, it } from 'vitest'
import { MAILS_TO_ADDRESS } from '../../src/members/limits'
import { addMember, captureConsole, freshEmail, freshProject, invite, invited, signedIn } from '../harness'
import { as, logged, rolesIn } from '../members/members'
import { at, leadsTo, rowOf, told, withMail } from './member-pages'
import { submit, type Visit, visit } from './visit'

describe('invitations', () => {
  const form = (email: string, role = 'viewer') => ({ email, role, expires_in_days: '3' })
  const send = (project: string, token: string, fields: Record<string, string>, options: Visit = withMail()) =>
    submit(at(project, '/invitations'), token, fields, options)

  it('are sent, shown with the outcome of their email, sent again, and revoked', async () => {
    const { project, owner } = await freshProject()
    const email = freshEmail()
    const failing = { send: async () => Promise.reject(new Error('E_NOT_VERIFIED <b>')) } as unknown as SendEmail
    captureConsole()
    const answer = await told(
      send(project, owner.token, form(` ${email.toUpperCase()} `), { bindings: { EMAIL: failing } }),
    )
    expect(answer).toEqual(leadsTo(at(project), 'invited'))
    const [row] = (await as(project, owner.token).invitations()).body.data
    expect(row).toMatchObject({ email, role: 'viewer', state: 'pending' })
    const days = (Date.parse(row.expires_at) - Date.parse(row.created_at)) / 86_400_000
    expect(days).toBe(3)
    const shown = async () => rowOf((await visit(at(project), owner.token)).text, email)
    expect(await shown()).toContain('Not sent: E_NOT_VERIFIED &lt;b&gt;')
    const one = at(project, `/invitations/${row.id}`)
    expect(await told(submit(`${one}/resend`, owner.token, {}, withMail()))).toEqual(
      leadsTo(at(project), 'invitation_resent'),
    )
    expect(await shown()).toContain('Sent <time')
    const early = await submit(`${one}/resend`, owner.token, {}, withMail())
    expect([early.status, early.headers.get('Retry-After')]).toEqual([429, '60'])
    expect(rowOf(early.text, email)).toContain('less than a minute ago')
    expect((await visit(`${one}/revoke`, owner.token)).text).toContain(`Revoke the invitation to ${email}?`)
    expect(await told(submit(`${one}/revoke`, owner.token))).toEqual(leadsTo(at(project), 'invitation_revoked'))
    expect(await shown()).toBe('')
    const all = await visit(at(project, '/invitations?state=revoked'), owner.token)
    expect(rowOf(all.text, email)).toContain('revoked')
    expect((await visit(at(project, '/invitations?state=accepted'), owner.token)).text).not.toContain(email)
    const late = await submit(`${one}/resend`, owner.token, {}, withMail())
    expect([late.status, late.text.includes('The invitation is revoked')]).toEqual([409, true])
  })

  it.each([
    ['no address', '', 'viewer', 422, 'Must be a valid email address'],
    ['not an address', 'somebody', 'viewer', 422, 'Must be a valid email address'],
    ['no role', 'a@example.com', '', 422, 'Must be one of'],
    ['a role above one’s own', 'a@example.com', 'owner', 403, 'You can give and change roles up to your own'],
  ])('with %s are refused at the form, which keeps what was filled in', async (_, email, role, status, reason) => {
    const { project } = await freshProject()
    const { token } = await addMember(project, 'admin')
    const answer = await send(project, token, form(email, role))
    const { wrong } = await told(Promise.resolve(answer))
    expect([answer.status, wrong.join()]).toEqual([status, expect.stringContaining(reason)])
    expect(answer.text).toContain(`value="${email}"`)
    expect(answer.text).toContain('<option value="3" selected')
    expect((await as(project, token).invitations()).body.data).toEqual([])
  })

  it('on a local server say that the terminal shows the link', async () => {
    const { project, owner } = await freshProject()
    const email = freshEmail()
    const here = `http://localhost:8787${at(project)}`
    captureConsole()
    const options = { headers: { Origin: 'http://localhost:8787' } }
    const answer = await told(submit(`${here}/invitations`, owner.token, form(email), options))
    expect(answer).toEqual(leadsTo(at(project), 'invited_locally'))
    const [row] = (await as(project, owner.token).invitations()).body.data
    const { text } = await visit(`${here}?done=invited_locally`, owner.token)
    expect(text).toContain('No email is sent: its link is in the terminal where npm start runs.')
    expect(rowOf(text, email)).toContain(`<a href="/console/invitations/${row.id}">Its link</a> is in the terminal`)
    expect(text).toContain('sends no email')
  })

  it('to a member, to an invited address, and too many are refused at the form', async () => {
    const { project, owner } = await freshProject()
    const email = freshEmail()
    expect((await send(project, owner.token, form(email))).status).toBe(303)
    expect(await told(send(project, owner.token, form(email)))).toEqual({
      status: 409,
      location: null,
      wrong: ['This address has a pending invitation. Resend it, or revoke it first.'],
    })
    expect((await told(send(project, owner.token, form(owner.email)))).wrong).toEqual([
      'This address belongs to a member of the project.',
    ])
    const busy = freshEmail()
    for (let n = 0; n < MAILS_TO_ADDRESS; n++)
      await invite(project, owner.token, { email: busy.replace('@', `+${n}@`) })
    const many = await told(send(project, owner.token, form(busy)))
    expect([many.status, many.wrong]).toEqual([429, [expect.stringContaining('limit of invitation emails')]])
  })

  it('that have expired are shown, and can be opened again; those of an owner are not sent again by an admin', async () => {
    const { project } = await freshProject()
    const { token } = await addMember(project, 'admin')
    const old = await invited(project, { expires_at: 1 })
    const high = await invited(project, { role: 'owner' })
    const { text } = await visit(at(project), token)
    expect(rowOf(text, old.email)).toContain('expired')
    expect([rowOf(text, old.email), rowOf(text, high.email)].map((row) => row.includes('/resend"'))).toEqual([
      true,
      false,
    ])
    expect(rowOf(text, high.email)).toContain('/revoke"')
    expect((await submit(at(project, `/invitations/${old.id}/resend`), token, {}, withMail())).status).toBe(303)
    expect((await submit(at(project, `/invitations/${high.id}/resend`), token, {}, withMail())).status).toBe(403)
    expect(rowOf((await visit(at(project), token)).text, old.email)).toContain('pending')
  })

  it('of another project do not exist', async () => {
    const [one, other] = [await freshProject(), await freshProject()]
    const { id } = await invited(other.project)
    const path = at(one.project, `/invitations/${id}`)
    expect((await visit(`${path}/revoke`, one.owner.token)).status).toBe(404)
    for (const verb of ['resend', 'revoke']) expect((await submit(`${path}/${verb}`, one.owner.token)).status).toBe(404)
    expect((await as(other.project, other.owner.token).invitation(id)).body.state).toBe('pending')
  })
})

describe('the invited user', () => {
  it('sees the invitation on the start page and its own, and accepts', async () => {
    const { project, owner } = await freshProject('Acme <b>')
    const guest = await signedIn()
    const { body } = await invite(project, owner.token, { email: guest.email, role: 'developer' })
    const start = await visit('/console', guest.token)
    expect(start.text).toContain('You are invited to a project')
    expect(start.text).not.toContain('Create your first project')
    expect(rowOf(start.text, 'Acme &lt;b&gt;')).toContain(owner.email)
    const path = `/console/invitations/${body.id}`
    const page = await visit(path, guest.token)
    expect([page.status, page.text.includes(`${path}/accept`)]).toEqual([200, true])
    const done = leadsTo(`/console/p/${project}`, 'invitation_accepted')
    expect(await told(submit(`${path}/accept`, guest.token))).toEqual(done)
    expect(await told(submit(`${path}/accept`, guest.token))).toEqual(done)
    expect((await rolesIn(project))[guest.user]).toBe('developer')
    expect((await visit('/console', guest.token)).text).not.toContain('You are invited')
    expect(await logged(project, guest.user)).toHaveLength(1)
    // It lets nobody back in.
    await as(project, owner.token).remove(guest.user)
    const back = await submit(`${path}/accept`, guest.token)
    expect([back.status, back.text.includes('You have already accepted this invitation')]).toEqual([409, true])
    expect((await rolesIn(project))[guest.user]).toBeUndefined()
  })

  it('declines', async () => {
    const { project } = await freshProject()
    const guest = await signedIn()
    const { id } = await invited(project, { email: guest.email })
    const path = `/console/invitations/${id}`
    expect(await told(submit(`${path}/decline`, guest.token))).toEqual(leadsTo('/console', 'invitation_declined'))
    expect((await visit(path, guest.token)).text).toContain('You declined this invitation')
    expect((await submit(`${path}/accept`, guest.token)).status).toBe(409)
    expect((await visit('/console', guest.token)).text).toContain('Create your first project')
  })

  it.each([
    ['revoked', { state: 'revoked' }, 'This invitation was revoked'],
    ['expired', { expires_at: 1 }, 'has expired'],
  ])('is told that it was %s', async (_, fields, words) => {
    const { project } = await freshProject()
    const guest = await signedIn()
    const { id } = await invited(project, { email: guest.email, ...fields })
    const path = `/console/invitations/${id}`
    expect((await visit(path, guest.token)).text).toContain(words)
    for (const verb of ['accept', 'decline']) {
      const answer = await submit(`${path}/${verb}`, guest.token)
      expect([answer.status, answer.text.includes(words), answer.text.includes('/accept"')]).toEqual([409, true, false])
    }
    expect((await rolesIn(project))[guest.user]).toBeUndefined()
  })

  it('with another address is not told that the invitation exists', async () => {
    const { project } = await freshProject('Secret name')
    const { id } = await invited(project)
    const { token, user } = await signedIn()
    const texts = []
    for (const one of [id, 'inv_none']) {
      const path = `/console/invitations/${one}`
      const answers = [
        await visit(path, token),
        await submit(`${path}/accept`, token),
        await submit(`${path}/decline`, token),
      ]
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
      texts.push(answers[0]?.text.replace(/data-now="\d+"/, ''))
    }
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).not.toContain('Secret name')
    expect((await rolesIn(project))[user]).toBeUndefined()
  })

  it('who is not signed in is told to sign in with the invited address, and comes back', async () => {
    const path = '/console/invitations/inv_1'
    const first = await visit(path, null)
    expect(first.headers.get('Location')).toBe(`/console/sign-in?next=${encodeURIComponent(path)}`)
    const { text } = await visit(first.headers.get('Location') ?? '', null)
    expect(text).toContain('Sign in with the address that the invitation was sent to')
    expect(text).toContain(`name="next" value="${path}"`)
    expect((await visit('/console/sign-in', null)).text).not.toContain('invited')
  })
})
