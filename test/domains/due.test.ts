import { afterEach, expect, it } from 'vitest'
import { MAX_DOMAINS } from '../../src/domains/limits'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { MAX_OWNED_PROJECTS } from '../../src/tenancy/limits'
import { advance, stopClock } from '../clock'
import { addMember, captureConsole, countingD1, DIRECTORY, mailbox, setHost, tamperedD1 } from '../harness'
import { cron, keepHouse } from '../inbox/pipeline'
import { end } from '../projects/ending'
import { actionsOf, MARK, newApi, newName, publish, texts, verified, zone } from './domains'

const due = async (now: number) =>
  (await DIRECTORY.prepare('SELECT count(*) AS n FROM domains WHERE next_check_at <= ?').bind(now).first('n')) as number

/** Pending domains that are due, so many of each project. @param creator who created the projects; without it, there are none */
async function insertDue(projects: number, each: number, now: number, creator?: string) {
  const rows = Array.from({ length: projects * each }, (_, n) => ({
    project: `prj_due_${creator ?? ''}${Math.floor(n / each)}`,
    id: newId('dom', now),
    host: `h${n}.${newName()}`,
    at: now - 1000 - n,
  }))
  await DIRECTORY.prepare(
    `INSERT INTO domains (project_id, id, hostname, purpose, state, state_since, token, next_check_at, created_by, created_at, version)
     SELECT value->>'project', value->>'id', value->>'host', 'sso', 'pending', ?1, 'none', value->>'at', '', 0, 1 FROM json_each(?2)`,
  )
    .bind(now, JSON.stringify(rows))
    .run()
  if (creator === undefined) return
  await DIRECTORY.prepare(
    `INSERT INTO projects (id, name, created_by, created_at) SELECT DISTINCT value->>'project', 'Due', ?1, 0 FROM json_each(?2)`,
  )
    .bind(creator, JSON.stringify(rows))
    .run()
}

/** How many domains of each project were taken. */
async function taken(): Promise<Record<string, number>> {
  const { results } = await DIRECTORY.prepare(
    'SELECT project_id, count(*) AS n FROM domains WHERE checked_at IS NOT NULL GROUP BY project_id',
  ).all<{ project_id: string; n: number }>()
  return Object.fromEntries(results.map(({ project_id, n }) => [project_id, n]))
}

afterEach(async () => {
  await DIRECTORY.prepare("DELETE FROM domains WHERE project_id LIKE 'prj_due%'").run()
  await DIRECTORY.prepare("DELETE FROM projects WHERE id LIKE 'prj_due%'").run()
})

it('of 1,000 due domains a run takes twenty, one of each project in turn', async () => {
  const now = stopClock()
  await insertDue(20, 50, now)
  await cron()
  expect(await due(now)).toBe(980)
  expect(Object.values(await taken())).toEqual(Array.from({ length: 20 }, () => 1))
  advance(MINUTE)
  await cron()
  expect(await due(now)).toBe(960)
})

it('a run takes no more than five of a project, the oldest', async () => {
  const now = stopClock()
  await insertDue(1, 8, now)
  await cron()
  expect(await taken()).toEqual({ prj_due_0: 5 })
  const left = await DIRECTORY.prepare('SELECT max(next_check_at) AS at FROM domains WHERE next_check_at < ?')
  expect(await left.bind(now).first('at')).toBe(now - 1000)
})

it('a user with as many due domains as one can have does not delay those of others, newer as they are', async () => {
  const now = stopClock()
  await insertDue(MAX_OWNED_PROJECTS, MAX_DOMAINS, now - DAY, 'usr_many')
  await insertDue(2, 3, now, 'usr_few')
  await insertDue(1, 1, now, 'usr_one')
  await cron()
  const counts = await taken()
  expect(counts).toMatchObject({ prj_due_usr_few0: 3, prj_due_usr_few1: 3, prj_due_usr_one0: 1 })
  // The rest is the other's, of as many projects.
  expect(Object.values(counts).sort()).toEqual([...Array.from({ length: 14 }, () => 1), 3, 3])
})

it('a run without due domains reads none; one with them takes one trip more', async () => {
  const now = stopClock()
  const run = async () => {
    const { DB, count } = countingD1()
    await cron({ DB })
    return { ...count }
  }
  await keepHouse() // an hour may have begun since the last run
  await run()
  const none = await run()
  await insertDue(4, 5, now)
  const some = await run()
  expect(some.trips - none.trips).toBe(1)
  expect(some.rows_written - none.rows_written).toBe(20 * 4)
  expect(await due(now)).toBe(0)
})

it('a pending domain is checked more and more rarely, for seven days', async () => {
  const begun = stopClock()
  const { api } = await newApi()
  const { body } = await api.add(newName())
  const seen: number[] = []
  let at = Date.parse(body.next_check_at as string)
  while (at) {
    seen.push(at - begun)
    advance(at - Date.now())
    await cron()
    const { next_check_at } = (await api.get(body.id)).body
    at = next_check_at === null ? 0 : Date.parse(next_check_at)
  }
  expect(seen.slice(0, 7)).toEqual([1, 2, 5, 10, 30, 90, 150].map((minutes) => minutes * MINUTE))
  expect(seen.at(-1)).toBe(7 * DAY)
  expect(Math.max(...seen.slice(1).map((one, i) => one - (seen[i] as number)))).toBe(4 * HOUR)
  expect((await api.get(body.id)).body.state).toBe('failed')
})

it('owners and admins are told when the record of a verified domain goes missing, and when the domain fails', async () => {
  stopClock()
  const { project, owner, api } = await newApi()
  const admin = await addMember(project, 'admin')
  await addMember(project, 'developer')
  const { id, hostname } = await verified(api)
  await zone(hostname, texts())
  const { EMAIL, mails } = mailbox()
  const told = async (times: number, every: number) => {
    mails.length = 0
    for (let n = 0; n < times; n++) {
      advance(every)
      await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
    }
    const { state, grace_until } = (await api.get(id)).body
    const ours = mails.filter(({ text }) => text.includes(`/settings/domains/${id}`))
    return { state, grace_until, to: ours.map(({ to }) => to).sort(), said: ours.map(({ text }) => text) }
  }
  const both = [owner.email, admin.email].sort()
  const missing = await told(3, DAY)
  expect(missing).toMatchObject({ state: 'grace', to: both })
  for (const text of missing.said) expect(text).toContain(`until ${missing.grace_until?.slice(0, 10)}`)
  expect(await told(1, DAY)).toMatchObject({ state: 'grace', to: [] })
  expect(await told(6, DAY)).toMatchObject({ state: 'failed', to: both })
})

it('an email that is refused is in the log, and keeps no other manager from theirs', async () => {
  stopClock()
  const { project, owner, api } = await newApi()
  const admin = await addMember(project, 'admin')
  const { id, hostname } = await verified(api)
  await zone(hostname, texts())
  const { EMAIL: box, mails } = mailbox()
  const send = (mail: Parameters<typeof box.send>[0]) =>
    JSON.stringify(mail).includes(owner.email) ? Promise.reject(new Error('refused here')) : box.send(mail as never)
  const lines = captureConsole()
  for (let n = 0; n < 3; n++) {
    advance(DAY)
    await cron({ EMAIL: { send } as unknown as SendEmail, SIGN_IN_DELIVERY: 'email' })
  }
  expect(mails.filter(({ text }) => text.includes(id)).map(({ to }) => to)).toEqual([admin.email])
  const logged = lines.filter((line) => line.includes('domain_mail_not_sent')).map((line) => JSON.parse(line))
  expect(logged).toMatchObject([{ domain_id: id, news: 'record_missing', error: 'Error: refused here' }])
})

it('nobody is told of a domain of a project that was deleted', async () => {
  stopClock()
  const { project, owner, api } = await newApi()
  const { id, hostname } = await verified(api)
  expect((await end({ project, owner })).status).toBe(200)
  await zone(hostname, texts())
  const { EMAIL, mails } = mailbox()
  for (let n = 0; n < 3; n++) {
    advance(DAY)
    await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
  }
  expect(await DIRECTORY.prepare('SELECT state FROM domains WHERE id = ?').bind(id).first('state')).toBe('grace')
  expect(mails.filter(({ text }) => text.includes(hostname))).toEqual([])
})

it('a domain that was never verified fails without an email', async () => {
  stopClock()
  const { api } = await newApi()
  const { body } = await api.add(newName())
  const { EMAIL, mails } = mailbox()
  advance(7 * DAY)
  await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
  expect((await api.get(body.id)).body.state).toBe('failed')
  expect(mails.filter(({ text }) => text.includes(body.id))).toEqual([])
})

it('what a run was doing when it died is due again ten minutes later', async () => {
  const now = stopClock()
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await publish(body)
  advance(MINUTE)
  let trips = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (/update "domains" set "hostname|"evidence"/i.test(sql) && trips++ === 0) throw new Error('the worker died')
    return run()
  })
  await cron({ DB }).catch(() => {})
  expect((await api.get(body.id)).body).toMatchObject({ state: 'pending' })
  advance(10 * MINUTE)
  await cron()
  expect((await api.get(body.id)).body).toMatchObject({ state: 'verified' })
  expect(Date.now() - now).toBe(11 * MINUTE)
})

it('a result is dropped if the domain was deleted meanwhile', async () => {
  stopClock()
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await publish(body)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (/evidence/.test(sql) && /update "domains"/i.test(sql) && /CASE WHEN/.test(sql)) await api.remove(body.id)
    return run()
  })
  expect((await api.verify(body.id, { bindings: { DB } })).body.state).toBe('released')
})

it('a result that another check has overtaken is dropped, and the audit log does not have it', async () => {
  stopClock()
  const { api } = await newApi()
  const { body } = await api.add(newName())
  advance(7 * DAY)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes('audit_log') && sql.includes('update "domains"')) {
      await DIRECTORY.prepare('UPDATE domains SET version = version + 1 WHERE id = ?').bind(body.id).run()
    }
    return run()
  })
  await cron({ DB })
  expect((await api.get(body.id)).body.state).toBe('pending')
  expect(await actionsOf(body.id)).toEqual(['domain.added'])
})

it('a surface is looked at hourly until it serves', async () => {
  stopClock()
  const { api } = await newApi()
  const name = newName()
  const domain = await verified(api, 'surface', name)
  expect(domain).toMatchObject({ target: 'surfaces.platform.test', serving: null })
  const look = async () => {
    advance(HOUR)
    await cron()
    const { serving, serving_detail, next_check_at } = (await api.get(domain.id)).body
    return { serving, serving_detail, next: Date.parse(next_check_at as string) - Date.now() }
  }
  expect(await look()).toEqual({ serving: false, serving_detail: expect.stringContaining('404'), next: HOUR })
  await setHost(name, { [MARK]: { body: JSON.stringify({ id: 'dom_another' }) } })
  expect(await look()).toMatchObject({ serving: false, serving_detail: expect.stringContaining('another domain') })
  // Also while its record is not to be seen.
  await zone(name, texts('other'))
  expect(await look()).toMatchObject({ serving: false, next: HOUR })
  await publish(domain)
  await setHost(name, { [MARK]: { body: JSON.stringify({ id: domain.id }) } })
  expect(await look()).toEqual({ serving: true, serving_detail: null, next: DAY })
})

it('a deployment without SURFACE_TARGET proves surfaces and looks at none', async () => {
  stopClock()
  const { api } = await newApi({ bindings: { SURFACE_TARGET: '' } })
  const domain = await verified(api, 'surface')
  expect(domain).toMatchObject({ state: 'verified', target: null, serving: null })
  expect(Date.parse(domain.next_check_at as string) - Date.now()).toBe(DAY)
  await zone(domain.hostname, texts())
})
