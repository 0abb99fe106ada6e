import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { noticesIn } from '../exposures/world'
import {
  addMember,
  call,
  DIRECTORY,
  deliver,
  freshConnection,
  freshEmail,
  freshProject,
  mailbox,
  STORE,
  stripeEvent,
} from '../harness'
import { captureLog, cron, keepHouse } from '../inbox/pipeline'
import { insertNotice } from './world'

/* How many, how often and how long: exactly at each limit of notices, and one below and above it. */

const NOON = Date.parse('2026-11-27T12:00:00Z')
const LASTING = { kind: 'key_exposed', facts: '{"object":"api_key","ended":true}' }
beforeAll(async () => {
  stopClock(NOON)
  await keepHouse() // so that no minute of this hour closes a notice
})
beforeEach(async () => {
  stopClock(NOON)
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

/** A minute of the cron. @returns its emails */
async function minute() {
  const { EMAIL, mails } = mailbox()
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
  return mails
}
type State = Record<string, number | string | null>
const state = (id: string) =>
  STORE.prepare('SELECT tries, mail_due_at, mailed_at, mail_left FROM notices WHERE id = ?').bind(id).first<State>()

describe('an email that fails', () => {
  const send = async () => {
    throw new Error('out')
  }
  const fail = () => cron({ EMAIL: { send } as never, SIGN_IN_DELIVERY: 'email' })

  it('is tried again after 5 minutes, 20, an hour and four hours, then given up, and leaves no trace of having been sent', async () => {
    const { project, owner } = await freshProject()
    const id = await insertNotice(project, LASTING)
    const log = captureLog()
    const mail_left = JSON.stringify([owner.user])
    for (const [n, minutes] of [5, 20, 60, 240].entries()) {
      await fail()
      const mail_due_at = Date.now() + minutes * MINUTE
      expect(await state(id)).toEqual({ tries: n + 1, mail_due_at, mailed_at: null, mail_left })
      setClock(mail_due_at - 1)
      await fail()
      expect((await state(id))?.tries).toBe(n + 1)
      advance(1)
    }
    expect(log.of('notice_given_up')).toEqual([])
    await fail()
    expect(await state(id)).toEqual({ tries: 5, mail_due_at: null, mailed_at: null, mail_left })
    expect(log.of('notice_given_up')).toMatchObject([{ project_id: project, notices: 1, at: Date.now() }])
    expect(log.of('notice_not_sent')[0]).toMatchObject({ user_id: owner.user, project_id: project })
  })
})

describe('emails of a day', () => {
  it('are counted once for all notices in them, per project, from midnight', async () => {
    const { project, owner } = await freshProject()
    const beside = await freshProject()
    const midnight = NOON - DAY / 2
    const earlier = async (mailed_at: number) =>
      void (await insertNotice(project, { mail_due_at: null, mailed_at, closed_at: NOON }))
    // Nine emails of today, one of them with three notices, and some of yesterday.
    for (const at of [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2]) await earlier(midnight + at)
    await insertNotice(project, LASTING)
    expect((await minute()).map(({ to }) => to)).toEqual([owner.email])
    const id = await insertNotice(project, LASTING)
    await insertNotice(beside.project, LASTING)
    expect((await minute()).map(({ to }) => to)).toEqual([beside.owner.email])
    expect(await state(id)).toMatchObject({ tries: 0, mail_due_at: midnight + DAY })
  })

  it('to an address are twenty, over all of its projects', async () => {
    const { project, owner } = await freshProject()
    const { body: second } = await call('/platform/v1/projects', {
      method: 'POST',
      token: owner.token,
      json: { name: 'Second' },
    })
    const set = (sent: number, day = Math.floor(NOON / DAY)) =>
      DIRECTORY.prepare('UPDATE users SET project_mails_day = ?, project_mails_sent = ? WHERE id = ?')
        .bind(day, sent, owner.user)
        .run()
    const mailed = async (of = project) => {
      await insertNotice(of, LASTING)
      return (await minute()).map(({ text }) => text.includes('This is the last of these emails today.'))
    }
    await set(18)
    expect([await mailed(), await mailed(second.id), await mailed()]).toEqual([[false], [true], []])
    // What was counted on another day does not count.
    await set(20, Math.floor(NOON / DAY) - 1)
    expect(await mailed()).toEqual([false])
    const counted = await DIRECTORY.prepare('SELECT project_mails_day, project_mails_sent FROM users WHERE id = ?')
      .bind(owner.user)
      .first()
    expect(counted).toEqual({ project_mails_day: Math.floor(NOON / DAY), project_mails_sent: 1 })
  })

  it('go to fifty people, owners first', async () => {
    const { project, owner } = await freshProject()
    const users = Array.from({ length: 52 }, () => [newId('usr', NOON - DAY), freshEmail()] as const)
    await DIRECTORY.batch(
      users.flatMap(([id, email]) => [
        DIRECTORY.prepare('INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)').bind(id, email, NOON),
        DIRECTORY.prepare(
          "INSERT INTO members (project_id, user_id, role, created_at, source) VALUES (?, ?, 'admin', ?, 'invitation')",
        ).bind(project, id, NOON),
      ]),
    )
    await insertNotice(project, LASTING)
    const to = (await minute()).map((mail) => mail.to)
    expect([to.length, new Set(to).size, to.includes(owner.email)]).toEqual([50, 50, true])
  })

  it('are those of three projects in a minute, of those that have waited longest', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => freshProject()))
    for (const [n, { project }] of made.entries())
      await insertNotice(project, { ...LASTING, mail_due_at: NOON - n * MINUTE })
    const emails = made.map(({ owner }) => owner.email)
    expect((await minute()).map(({ to }) => to)).toEqual([emails[4], emails[3], emails[2]])
    expect((await minute()).map(({ to }) => to)).toEqual([emails[1], emails[0]])
  })

  it('are not sent a millisecond early', async () => {
    const { project } = await freshProject()
    await insertNotice(project, { ...LASTING, mail_due_at: NOON + 1 })
    expect(await minute()).toEqual([])
    advance(1)
    expect(await minute()).toHaveLength(1)
  })

  it('of members with each role and choice go where they should', async () => {
    const { project } = await freshProject()
    const people: Record<string, string> = {}
    for (const role of ['owner', 'admin', 'developer', 'viewer'] as const) {
      for (const mail of ['all', 'security', 'none']) {
        const { user, email } = await addMember(project, role)
        await DIRECTORY.prepare('UPDATE members SET mail = ? WHERE user_id = ?').bind(mail, user).run()
        people[email] = `${role} ${mail}`
      }
    }
    const told = async (fields: State) => {
      await insertNotice(project, fields)
      return (await minute()).flatMap(({ to }) => people[to] ?? []).sort()
    }
    expect(await told({})).toEqual(['admin all', 'owner all'])
    expect(await told(LASTING)).toEqual(['admin all', 'admin security', 'owner all', 'owner none', 'owner security'])
    // With both, each gets what is for them.
    await insertNotice(project, LASTING)
    await insertNotice(project)
    const subjects = (await minute()).map(({ to, subject }) => [people[to], subject])
    const two = '2 notices about your project'
    expect(Object.fromEntries(subjects.filter(([who]) => who))).toEqual({
      'admin all': two,
      'admin security': 'An API key was exposed',
      'owner all': two,
      'owner none': 'An API key was exposed',
      'owner security': 'An API key was exposed',
    })
  })
})

describe('a notice that is opened again', () => {
  async function degraded(fields: State) {
    const { project, connection } = await freshConnection()
    const id = await insertNotice(project, { object_id: connection.id, mail_due_at: null, tries: 3, ...fields })
    for (let n = 0; n < 20; n++) await deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
    const row = await STORE.prepare('SELECT * FROM notices WHERE project_id = ?').bind(project).all<State>()
    expect(row.results).toHaveLength(1)
    return { id, row: row.results[0] as State }
  }

  it('is another one, and as new', async () => {
    const opened_at = NOON - 5 * DAY
    const facts = '{"name":"Before","refused":1}'
    const closed = { opened_at, closed_at: NOON - DAY, mailed_at: opened_at, mail_left: '["usr_1"]', facts }
    const { id, row } = await degraded(closed)
    expect(row.id).not.toBe(id)
    expect(row).toMatchObject({ opened_at: NOON, closed_at: null, mail_due_at: NOON, tries: 0, mail_left: null })
    expect([row.mailed_at, JSON.parse(String(row.facts))]).toEqual([opened_at, { name: 'Stripe', refused: 20 }])
  })

  it.each([
    ['closed a day ago', { closed_at: NOON - DAY, mailed_at: NOON - 2 * DAY }, NOON],
    ['closed less than a day ago', { closed_at: NOON - DAY + 1, mailed_at: NOON - 2 * DAY }, null],
    ['closed a moment ago, and never mailed', { closed_at: NOON - 1, mailed_at: null }, NOON],
  ])('is mailed again, if that was due: %s', async (_, fields, due) => {
    const { row } = await degraded(fields)
    expect([row.closed_at, row.mail_due_at]).toEqual([null, due])
  })

  it('stays as it is while it is open', async () => {
    const { id, row } = await degraded({ opened_at: NOON - 1 })
    expect(row).toMatchObject({ id, opened_at: NOON - 1, tries: 3, mail_due_at: null })
  })
})

describe('open notices of a project', () => {
  it.each([
    [199, 'one more is opened'],
    [200, 'no other one is'],
  ])('are %i: %s', async (open) => {
    const { project, connection } = await freshConnection()
    const beside = await freshProject()
    const columns = "'connection_degraded', 'con_' || v, '{}', 1"
    const fill = (of: string, n: number, closed: number | null) =>
      STORE.prepare(
        `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?2)
         INSERT INTO notices (project_id, id, kind, object_id, facts, opened_at, closed_at)
         SELECT ?1, 'ntc_' || ?1 || v, ${columns}, ?3 FROM n`,
      )
        .bind(of, n, closed)
        .run()
    await fill(project, open, null)
    await fill(beside.project, 200, null)
    for (let n = 0; n < 20; n++) await deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
    const told = (await noticesIn(project)).filter(({ object_id }) => object_id === connection.id)
    expect(told).toHaveLength(open === 199 ? 1 : 0)
    // All are closed in one round of the cron, however many steps that takes, and those that were closed take no room.
    advance(2 * HOUR)
    await keepHouse()
    expect((await noticesIn(project)).filter(({ closed_at }) => closed_at === null)).toEqual([])
    expect((await noticesIn(beside.project)).filter(({ closed_at }) => closed_at === null)).toEqual([])
    for (let n = 0; n < 20; n++) await deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
    const again = (await noticesIn(project)).filter(({ closed_at }) => closed_at === null)
    expect(again.map(({ object_id }) => object_id)).toEqual([connection.id])
  })
})

it('a notice of an ended secret stays open for seven days, and a closed one is kept for ninety', async () => {
  const { project } = await freshProject()
  const opened = (ms: number) => insertNotice(project, { ...LASTING, mail_due_at: null, opened_at: NOON - ms })
  const [over, open] = [await opened(7 * DAY), await opened(7 * DAY - 1)]
  const closed = (ms: number) => insertNotice(project, { mail_due_at: null, closed_at: NOON - ms })
  const [kept, gone] = [await closed(90 * DAY), await closed(90 * DAY + 1)]
  await keepHouse()
  const rows = await STORE.prepare('SELECT id, closed_at FROM notices WHERE project_id = ?')
    .bind(project)
    .all<{ id: string; closed_at: number | null }>()
  const at = Object.fromEntries(rows.results.map(({ id, closed_at }) => [id, closed_at]))
  expect([at[over], at[open], at[kept], at[gone]]).toEqual([NOON, null, NOON - 90 * DAY, undefined])
})
