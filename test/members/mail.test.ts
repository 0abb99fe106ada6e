import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { begin, call, captureConsole, freshEmail, freshProject, invite, mailbox } from '../harness'
import { as, told } from './members'

/** An email service that fails as often as it is told to. */
function failingMail(times: number) {
  const { EMAIL, mails } = mailbox()
  let left = times
  const send = async (mail: Parameters<SendEmail['send']>[0]) => {
    left -= 1
    if (left >= 0) throw new Error('E_SENDER_NOT_VERIFIED')
    return EMAIL.send(mail as never)
  }
  return { EMAIL: { send } as unknown as SendEmail, mails }
}

describe('the email of an invitation', () => {
  it('names the project, the role and the page, and contains no secret', async () => {
    const { EMAIL, mails } = mailbox()
    const { project, owner } = await freshProject('Acme')
    const { body } = await invite(project, owner.token, { role: 'admin' }, { bindings: { EMAIL } })
    const [mail] = mails
    expect(mails).toHaveLength(1)
    expect(mail).toMatchObject({ to: body.email, subject: 'You are invited to the project “Acme”' })
    expect(mail?.text).toContain(`https://platform.test/console/invitations/${body.id}`)
    expect(mail?.text).toContain('Your role will be admin')
    expect(mail?.text).toContain(body.expires_at.slice(0, 10))
    const { body: after } = await as(project, owner.token).invitation(body.id)
    expect(after).toMatchObject({ sent_at: expect.any(String), send_error: null, sends: 1 })
  })

  it.each(['https://evil.example', 'www.evil', 'Visit evil.example now', 'evil．example', 'evil\u2024example', 'a.b'])(
    'leaves out a name that an email program would turn into a link: %s',
    async (name) => {
      const { EMAIL, mails } = mailbox()
      const { project, owner } = await freshProject(name)
      await invite(project, owner.token, {}, { bindings: { EMAIL } })
      expect(mails[0]?.subject).toBe('You are invited to a project')
      expect(mails[0]?.text).not.toContain(name)
    },
  )

  it.each(['Acme Inc.', 'R. Daneel', 'Größe 3'])('shows any other name: %s', async (name) => {
    const { EMAIL, mails } = mailbox()
    const { project, owner } = await freshProject(name)
    await invite(project, owner.token, {}, { bindings: { EMAIL } })
    expect(mails[0]?.subject).toContain(`“${name}”`)
  })

  it('that fails is shown as not sent, is logged without the address, and goes out by resending at once', async () => {
    const { EMAIL, mails } = failingMail(1)
    const { project, owner } = await freshProject()
    const lines = captureConsole()
    const { status, body } = await invite(project, owner.token, {}, { bindings: { EMAIL } })
    expect(status).toBe(201)
    const { invitation, resend } = as(project, owner.token)
    expect((await invitation(body.id)).body).toMatchObject({
      state: 'pending',
      sent_at: null,
      send_error: 'E_SENDER_NOT_VERIFIED',
      sends: 1,
    })
    const line = lines.find((one) => one.includes('invitation_not_sent')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ level: 'error', error: 'E_SENDER_NOT_VERIFIED', invitation_id: body.id })
    expect(lines.join('\n')).not.toContain(body.email)
    const again = await resend(body.id, { bindings: { EMAIL } })
    expect([again.status, again.body.send_error, again.body.sends]).toEqual([202, null, 2])
    expect(mails.map(({ to }) => to)).toEqual([body.email])
    expect((await invitation(body.id)).body).toMatchObject({ sent_at: expect.any(String), send_error: null, sends: 2 })
    // One that went out is not repeated within the minute.
    expect(told(await resend(body.id, { bindings: { EMAIL } }))).toEqual([429, 'rate_limited'])
  })

  it('that ends after a newer one does not hide what became of the newer one', async () => {
    stopClock()
    const { project, owner } = await freshProject()
    const gate = Promise.withResolvers<void>()
    const slow = { send: () => gate.promise } as unknown as SendEmail
    const json = { email: freshEmail(), role: 'viewer' }
    const options = { method: 'POST', project, token: owner.token, json, bindings: { EMAIL: slow } }
    const first = await begin('/platform/v1/invitations', options)
    const { id } = (await first.response.json()) as { id: string }
    advance(2 * MINUTE)
    const lines = captureConsole()
    expect((await as(project, owner.token).resend(id, { bindings: { EMAIL: failingMail(1).EMAIL } })).status).toBe(202)
    expect(lines.join()).toContain('invitation_not_sent')
    gate.resolve()
    await first.rest()
    const failed = { sends: 2, sent_at: null, send_error: 'E_SENDER_NOT_VERIFIED' }
    expect((await as(project, owner.token).invitation(id)).body).toMatchObject(failed)
  })

  it('says so where the deployment has no email service, in at most 200 characters', async () => {
    const { project, owner } = await freshProject()
    const long = { send: async () => Promise.reject(new Error('x'.repeat(1000))) } as unknown as SendEmail
    for (const [EMAIL, reason] of [
      [undefined, 'no send_email binding is configured'],
      [long, 'x'.repeat(200)],
    ] as const) {
      captureConsole()
      const json = { email: freshEmail(), role: 'viewer' }
      const options = { method: 'POST', project, token: owner.token, json, bindings: { EMAIL } as object }
      const { body } = await call('/platform/v1/invitations', options)
      expect((await as(project, owner.token).invitation(body.id)).body.send_error).toBe(reason)
    }
  })

  it('is printed by a local server that was started for that', async () => {
    const { project, owner } = await freshProject('Acme')
    const lines = captureConsole()
    const { EMAIL, mails } = mailbox()
    const json = { email: freshEmail(), role: 'viewer' }
    const options = { method: 'POST', project, token: owner.token, json, bindings: { EMAIL } }
    const { body } = await call('http://localhost:8787/platform/v1/invitations', options)
    expect(mails).toEqual([])
    expect(lines.join('\n')).toContain(`Invitation for ${json.email} to the project “Acme”, as viewer`)
    expect(lines.join('\n')).toContain(`http://localhost:8787/console/invitations/${body.id}`)
  })
})
