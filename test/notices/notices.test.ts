import { beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '../../src/lib/access'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { MAIL_WAITS, MAILS_OF_PROJECT, NOTICE_MAILS_TO_ADDRESS } from '../../src/notices/limits'
import { advance, stopClock } from '../clock'
import { hooksWorld } from '../endpoints/world'
import { noticesIn, report } from '../exposures/world'
import {
  addMember,
  call,
  DIRECTORY,
  deliver,
  freshConnection,
  freshKey,
  freshProject,
  mailbox,
  mint,
  STORE,
  stripeEvent,
} from '../harness'
import { cron, keepHouse, newWorld } from '../inbox/pipeline'
import { insertNotice } from './world'

const NOON = Date.parse('2026-11-27T12:00:00Z')
beforeEach(async () => {
  stopClock(NOON)
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

/** A notice that the cron does not close for a week. */
const LASTING = { kind: 'key_exposed', facts: '{"object":"api_key","ended":true}' }

/** A minute of the cron. @returns its emails */
async function minute() {
  const { EMAIL, mails } = mailbox()
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
  return mails
}
const list = (project: string, token: string, query = '') => call(`/platform/v1/notices${query}`, { project, token })

describe('emails', () => {
  const choose = (project: string, token: string, user: string, json: object) =>
    call(`/platform/v1/members/${user}`, { method: 'PATCH', project, token, json })

  it('go to owners and admins, once, by what they have chosen; about exposed keys to owners always', async () => {
    const { project, owner, key, secret } = await freshKey()
    const people = await Promise.all(
      (['admin', 'admin', 'developer', 'owner'] as Role[]).map((role) => addMember(project, role)),
    )
    const [none, security, , second] = people as [typeof owner, typeof owner, typeof owner, typeof owner]
    await choose(project, none.token, none.user, { mail: 'none' })
    await choose(project, security.token, security.user, { mail: 'security' })
    await choose(project, second.token, second.user, { mail: 'none' })
    await insertNotice(project)
    expect((await minute()).map(({ to }) => to)).toEqual([owner.email])
    expect(await minute()).toEqual([])
    await report(secret)
    const mails = await minute()
    expect(mails.map(({ to }) => to).sort()).toEqual([owner.email, security.email, second.email].sort())
    expect(mails[0]).toMatchObject({ subject: 'An API key was exposed' })
    expect(mails[0]?.text).toContain(`/console/p/${project}/platform/settings/api-keys/${key.id}`)
    expect(mails[0]?.text).not.toContain(secret)
  })

  it('can only be chosen by the member, as an owner or an admin', async () => {
    const { project, owner, secret } = await freshKey()
    const admin = await addMember(project, 'admin')
    const viewer = await addMember(project, 'viewer')
    const tries = [
      [owner.token, admin.user, 'console_session_required'],
      [secret, owner.user, 'console_session_required'],
      [viewer.token, viewer.user, 'insufficient_role'],
    ] as const
    for (const [token, user, code] of tries)
      expect((await choose(project, token, user, { mail: 'none' })).body.code).toBe(code)
    for (const json of [{}, { role: 'viewer', mail: 'none' }, { mail: 'some' }])
      expect((await choose(project, admin.token, admin.user, json)).status).toBe(422)
    expect((await choose(project, admin.token, admin.user, { mail: 'none' })).body.mail).toBe('none')
  })

  it('are ten a day of a project; what comes after that comes the next day, in one', async () => {
    const { project, owner } = await freshProject()
    for (let i = 0; i < MAILS_OF_PROJECT; i++) {
      await insertNotice(project)
      expect((await minute()).map(({ to }) => to)).toEqual([owner.email])
      advance(MINUTE)
    }
    for (let i = 0; i < 3; i++) {
      await insertNotice(project)
      expect(await minute()).toEqual([])
      advance(MINUTE)
    }
    advance(DAY / 2)
    const mails = await minute()
    expect(mails.map(({ subject }) => subject)).toEqual(['3 notices about your project'])
    expect(await minute()).toEqual([])
  })

  it('are twenty a day to an address, and the last one says so', async () => {
    const { project, owner } = await freshProject()
    await DIRECTORY.prepare('UPDATE users SET project_mails_day = ?, project_mails_sent = ? WHERE id = ?')
      .bind(Math.floor(NOON / DAY), NOTICE_MAILS_TO_ADDRESS - 1, owner.user)
      .run()
    await insertNotice(project)
    expect((await minute())[0]?.text).toContain('This is the last of these emails today.')
    await insertNotice(project)
    expect(await minute()).toEqual([])
    advance(DAY)
    await insertNotice(project)
    expect((await minute())[0]?.text).not.toContain('the last')
  })

  it('are tried again while the email service fails, and given up', async () => {
    const { project } = await freshProject()
    await insertNotice(project, LASTING)
    let tries = 0
    const send = async () => {
      tries += 1
      throw new Error('out')
    }
    for (let i = 0; i < MAIL_WAITS.length + 4; i++) {
      await cron({ EMAIL: { send } as never, SIGN_IN_DELIVERY: 'email' })
      advance(5 * HOUR)
    }
    expect(tries).toBe(MAIL_WAITS.length + 1)
    expect(await minute()).toEqual([])
  })

  it('are tried again for those whom they did not reach, and no others', async () => {
    const { project, owner } = await freshProject()
    const [second, third] = [await addMember(project, 'owner'), await addMember(project, 'admin')]
    const first = await insertNotice(project, LASTING)
    /** A minute in which the email service refuses these addresses. */
    const refusing = async (...refused: string[]) => {
      const { EMAIL, mails } = mailbox()
      const send = (mail: { to: string }) =>
        refused.includes(mail.to) ? Promise.reject(new Error('out')) : EMAIL.send(mail as never)
      await cron({ EMAIL: { send } as never, SIGN_IN_DELIVERY: 'email' })
      return mails.map(({ to, subject }) => [to, subject]).sort()
    }
    const title = 'An API key was exposed'
    expect(await refusing(second.email, third.email)).toEqual([[owner.email, title]])
    expect(await refusing()).toEqual([])
    advance(MAIL_WAITS[0] ?? 0)
    // A new one in the same email, for all.
    await insertNotice(project, LASTING)
    const two = '2 notices about your project'
    const sent = [
      [owner.email, title],
      [third.email, two],
    ].sort()
    expect(await refusing(second.email)).toEqual(sent)
    advance(HOUR)
    expect(await refusing()).toEqual([[second.email, two]])
    advance(DAY)
    expect(await refusing()).toEqual([])
    const row = await STORE.prepare('SELECT mail_due_at, mail_left, mailed_at FROM notices WHERE id = ?')
      .bind(first)
      .first()
    expect(row).toEqual({ mail_due_at: null, mail_left: null, mailed_at: Date.now() - DAY })
  })

  it('are given up for one whom they never reach, though they reached another', async () => {
    const { project, owner } = await freshProject()
    await addMember(project, 'owner')
    const id = await insertNotice(project, LASTING)
    let tries = 0
    const { EMAIL, mails } = mailbox()
    const send = (mail: { to: string }) => {
      if (mail.to === owner.email) return EMAIL.send(mail as never)
      tries += 1
      return Promise.reject(new Error('out'))
    }
    for (let i = 0; i < MAIL_WAITS.length + 4; i++) {
      await cron({ EMAIL: { send } as never, SIGN_IN_DELIVERY: 'email' })
      advance(5 * HOUR)
    }
    expect([tries, mails.length]).toEqual([MAIL_WAITS.length + 1, 1])
    // It was sent, as far as it went.
    const { mailed_at } = (await STORE.prepare('SELECT mailed_at FROM notices WHERE id = ?').bind(id).first()) ?? {}
    expect(mailed_at).toBeGreaterThanOrEqual(NOON)
  })

  it('that wait for the next day, or for a deleted project, are no attempts', async () => {
    const { project, owner } = await freshProject()
    for (let i = 0; i < MAILS_OF_PROJECT; i++)
      await insertNotice(project, { mail_due_at: null, mailed_at: NOON - i, closed_at: NOON })
    const id = await insertNotice(project, LASTING)
    const state = () => STORE.prepare('SELECT tries, mail_due_at FROM notices WHERE id = ?').bind(id).first()
    expect([await minute(), await state()]).toEqual([[], { tries: 0, mail_due_at: NOON + DAY / 2 }])
    advance(DAY / 2)
    const deleted = 'UPDATE projects SET deleted_at = ? WHERE id = ?'
    await STORE.prepare(deleted).bind(NOON, project).run()
    expect([await minute(), await state()]).toEqual([[], { tries: 0, mail_due_at: NOON + 1.5 * DAY }])
    await STORE.prepare(deleted).bind(null, project).run()
    advance(DAY)
    expect((await minute()).map(({ to }) => to)).toContain(owner.email)
    expect(await state()).toEqual({ tries: 1, mail_due_at: null })
  })

  it('are not sent once the matter is over', async () => {
    const { project } = await freshProject()
    await insertNotice(project, { mail_due_at: NOON + MINUTE })
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: NOON }])
    advance(MINUTE)
    expect(await minute()).toEqual([])
  })

  it('contain no address that somebody chose, and describe twenty notices at most', async () => {
    const { project } = await freshProject('visit www.evil.example now')
    const facts = JSON.stringify({
      object: 'api_key',
      name: 'see evil.example',
      url: 'https://evil.example/x',
      ended: true,
    })
    for (let i = 0; i < 25; i++) await insertNotice(project, { kind: 'key_exposed', facts })
    const [mail] = await minute()
    expect(mail?.text).not.toContain('evil')
    expect(mail?.text).toContain('And 5 more.')
    expect(mail?.text.match(/was reported as exposed/g)).toHaveLength(20)
  })
})

describe('a connection', () => {
  it('that refuses 20 deliveries and accepts none is told of once, and no more when it accepts', async () => {
    const { project, owner, connection } = await freshConnection()
    const refuse = () => deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
    for (let i = 0; i < 19; i++) await refuse()
    expect(await noticesIn(project)).toEqual([])
    for (let i = 0; i < 3; i++) await refuse()
    expect(await noticesIn(project)).toMatchObject([
      { kind: 'connection_degraded', object_id: connection.id, closed_at: null },
    ])
    expect((await list(project, owner.token)).body.data).toMatchObject([
      { title: 'A connection refuses every delivery', closed_at: null },
    ])
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: null }])
    await deliver(connection.id, stripeEvent())
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: NOON }])
    // It accepted something in these 15 minutes.
    for (let i = 0; i < 25; i++) await refuse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: NOON }])
    advance(HOUR)
    for (let i = 0; i < 25; i++) await refuse()
    // Opened again within a day: no email.
    expect(await noticesIn(project)).toMatchObject([{ closed_at: null }])
    expect(await minute()).toEqual([])
    await deliver(connection.id, stripeEvent())
    await keepHouse()
    advance(DAY + MINUTE)
    for (let i = 0; i < 25; i++) await refuse()
    expect(await minute()).toHaveLength(1)
  })

  it('of which ten events of the last hour failed is told of', async () => {
    const world = await newWorld()
    for (let i = 0; i < 10; i++) {
      expect(await noticesIn(world.project)).toEqual([])
      await world.send({ id: `evt_broken${i}`, object: 'event', type: 'invoice.paid', data: {} })
      await world.queue.pump()
    }
    expect(await noticesIn(world.project)).toMatchObject([{ kind: 'events_failing', facts: { failed: 10 } }])
    advance(2 * HOUR)
    await keepHouse()
    expect(await noticesIn(world.project)).toMatchObject([{ closed_at: NOON + 2 * HOUR }])
  })
})

describe('an API key in use', () => {
  it('that expires is told of a week and a day before, and no more when it is revoked', async () => {
    const { project, owner } = await freshProject()
    const days = [8, 7, 0.5, 7] as const
    const keys = await Promise.all(
      days.map((n) =>
        mint(owner.token, project, { name: `in ${n}`, expires_at: new Date(NOON + n * DAY).toISOString() }),
      ),
    )
    await STORE.prepare('UPDATE api_keys SET last_used_at = ? WHERE project_id = ?')
      .bind(NOON - 29 * DAY, project)
      .run()
    await STORE.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?')
      .bind(NOON - 31 * DAY, keys[3]?.key.id)
      .run()
    const last = { address: 'h', country: 'NO', user_agent: 'curl', operation: 'getOwnApiKey' }
    await STORE.prepare('UPDATE api_keys SET last_use = ? WHERE project_id = ?')
      .bind(JSON.stringify(last), project)
      .run()
    await keepHouse()
    expect((await noticesIn(project))[0]?.facts).toMatchObject({ country: 'NO', user_agent: 'curl' })
    const told = async () =>
      (await noticesIn(project))
        .map(({ object_id, facts, closed_at }) => [object_id, facts.days, closed_at !== null])
        .sort()
    const ids = keys.map(({ key }) => key.id as string)
    const sorted = (rows: unknown[][]) => rows.toSorted()
    expect(await told()).toEqual(
      sorted([
        [ids[1], 7, false],
        [ids[2], 1, false],
      ]),
    )
    expect((await minute())[0]?.subject).toBe('2 notices about your project')
    await call(`/platform/v1/api-keys/${ids[2]}`, { method: 'DELETE', project, token: owner.token })
    advance(6.5 * DAY)
    await STORE.prepare('UPDATE api_keys SET last_used_at = ? WHERE project_id = ? AND id <> ?')
      .bind(Date.now(), project, keys[3]?.key.id)
      .run()
    await keepHouse()
    expect(await told()).toEqual(
      sorted([
        [ids[0], 7, false],
        [ids[1], 1, false],
        [ids[2], 1, true],
      ]),
    )
    expect((await minute())[0]?.subject).toBe('2 notices about your project')
    await keepHouse()
    expect(await minute()).toEqual([])
    advance(DAY)
    await keepHouse()
    expect(await told()).toEqual(
      sorted([
        [ids[0], 1, false],
        [ids[1], 1, true],
        [ids[2], 1, true],
      ]),
    )
  })
})

describe('an endpoint', () => {
  it('is told of after an hour, a day before it is disabled, and when it was, with the answer', async () => {
    const world = await hooksWorld()
    const hook = await world.endpoint({ status: 500, body: 'out of order\nmore' })
    const kinds = async () => (await noticesIn(world.project)).map(({ kind }) => kind).toReversed()
    const goOn = async (ms: number) => {
      advance(ms)
      await world.change()
      await world.cron()
      await world.pump()
    }
    for (let i = 0; i < 6; i++) await goOn(MINUTE)
    expect(await kinds()).toEqual([])
    await goOn(HOUR)
    expect(await kinds()).toEqual(['endpoint_failing'])
    expect(await noticesIn(world.project)).toMatchObject([
      { object_id: hook.id, facts: { url: hook.url, status: 500, answer: 'out of order' } },
    ])
    await goOn(4 * DAY)
    expect(await kinds()).toEqual(['endpoint_failing', 'endpoint_disabling'])
    await goOn(DAY)
    expect(await kinds()).toEqual(['endpoint_failing', 'endpoint_disabling', 'endpoint_disabled'])
    await keepHouse()
    const open = (await noticesIn(world.project)).filter(({ closed_at }) => closed_at === null)
    expect(open.map(({ kind }) => kind)).toEqual(['endpoint_disabled'])
  })
})

describe('the list', () => {
  it('has what the caller may read, by kind and by whether it is open, and pages', async () => {
    const { project, owner, secret } = await freshKey()
    for (const kind of ['key_expiring', 'events_failing', 'endpoint_failing']) await insertNotice(project, { kind })
    await insertNotice(project, { kind: 'endpoint_disabled', closed_at: NOON })
    const kinds = async (query: string, token = secret) =>
      (await list(project, token, query)).body.data.map(({ kind }) => kind)
    expect(await kinds('')).toHaveLength(4)
    expect(await kinds('?open=false')).toEqual(['endpoint_disabled'])
    expect(await kinds('?kind=key_expiring')).toEqual(['key_expiring'])
    const narrow = await mint(owner.token, project, { scopes: ['webhooks:read'] })
    expect((await kinds('?open=true', narrow.secret)).sort()).toEqual(['endpoint_failing'])
    expect(await kinds('?kind=key_expiring', narrow.secret)).toEqual([])
    const viewer = await addMember(project, 'viewer')
    expect(await kinds('', viewer.token)).toHaveLength(4)
    expect((await list(project, viewer.token, '?limit=2')).body.has_more).toBe(true)
  })

  it('forgets what was closed long ago', async () => {
    const { project } = await freshProject()
    await insertNotice(project, { closed_at: NOON - 91 * DAY, mail_due_at: null })
    await insertNotice(project, { closed_at: NOON - 89 * DAY, mail_due_at: null })
    await keepHouse()
    expect(await noticesIn(project)).toHaveLength(1)
  })
})
