import { beforeEach, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import { MAIL_WAITS } from '../../src/notices/limits'
import { advance, setClock, stopClock } from '../clock'
import { addMember, DIRECTORY, freshProject, mailbox, STORE, tamperedD1 } from '../harness'
import { captureLog, cron, failingAt } from '../inbox/pipeline'
import { insertNotice } from './world'

/* If the email of a notice cannot be prepared, that does not use up an attempt to send it. */

const NOON = Date.parse('2026-11-27T12:00:00Z')
const [FIRST = 0, , , LAST = 0] = MAIL_WAITS
beforeEach(async () => {
  stopClock(NOON)
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

/** What a minute of the cron mails. `DB`: what it finds in place of the database. */
async function minute(DB?: D1Database): Promise<string[]> {
  const { EMAIL, mails } = mailbox()
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email', ...(DB && { DB }) })
  return mails.map(({ subject }) => subject)
}
const state = (id: string) => STORE.prepare('SELECT tries, mail_due_at FROM notices WHERE id = ?').bind(id).first()
const lasting = { kind: 'key_exposed', facts: '{"object":"api_key","ended":true}' }

it('an email waits while the directory cannot say who gets it, and no attempt is used up', async () => {
  const { project } = await freshProject()
  const id = await insertNotice(project, lasting)
  const DB = failingAt(({ sql }) => sql.includes('project_mails_day'), 'before')
  for (const wait of [FIRST, FIRST, 2 * FIRST]) {
    expect(await minute(DB)).toEqual([])
    expect(await state(id)).toEqual({ tries: 0, mail_due_at: Date.now() + wait })
    expect(await minute()).toEqual([])
    advance(wait)
  }
  expect(await minute()).toEqual(['An API key was exposed'])
  expect(await state(id)).toEqual({ tries: 1, mail_due_at: null })
})

it('a reader who is erased before the email is counted gets none, and the others do', async () => {
  const { project, owner } = await freshProject()
  const { user } = await addMember(project, 'owner')
  await insertNotice(project, lasting)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes('project_mails_day'))
      await DIRECTORY.prepare('UPDATE users SET email = id WHERE id = ?').bind(user).run()
    return run()
  })
  const { EMAIL, mails } = mailbox()
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email', DB })
  expect(mails.map(({ to }) => to)).toEqual([owner.email])
})

it('an email that can never be made is given up a week after its notice was opened, and delays no other', async () => {
  const { project, owner } = await freshProject()
  const log = captureLog()
  // A later version has opened it, before it was rolled back.
  const broken = await insertNotice(project, { kind: 'unheard_of' })
  await insertNotice(project, lasting) // due together
  expect(await minute()).toEqual(['An API key was exposed'])
  const mails = () => DIRECTORY.prepare('SELECT project_mails_sent FROM users WHERE id = ?').bind(owner.user).first()
  expect(await mails()).toEqual({ project_mails_sent: 1 })
  advance(FIRST)
  expect(await minute()).toEqual([])
  expect(await mails()).toEqual({ project_mails_sent: 1 }) // an email that cannot be made does not count toward the daily limit
  const due = async () => ((await state(broken))?.mail_due_at as number | null) ?? null
  const waits: number[] = []
  const next = async () => {
    const at = (await due()) ?? 0
    setClock(at)
    expect(await minute()).toEqual([])
    waits.push(((await due()) ?? at) - at)
  }
  while (waits.at(-1) !== LAST && waits.length < 20) await next()
  expect(waits.length).toBeLessThan(10) // each longer than the one before, up to the longest
  expect(waits).toEqual([...new Set(waits)].sort((a, b) => a - b))
  // The days in between are alike. What matters is the last try within the week and the first one after it.
  const week = NOON + 7 * DAY
  await STORE.prepare('UPDATE notices SET mail_due_at = ? WHERE id = ?')
    .bind(week - 1, broken)
    .run()
  await next()
  expect([await state(broken), log.of('notice_given_up')]).toEqual([{ tries: 0, mail_due_at: week - 1 + LAST }, []])
  await next()
  expect(await state(broken)).toEqual({ tries: 0, mail_due_at: null })
  expect(log.of('notice_given_up')).toMatchObject([{ project_id: project, notices: 1 }])
})
