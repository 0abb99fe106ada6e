import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import {
  call,
  countingD1,
  D1_LOST,
  DIRECTORY,
  lossyQueue,
  type RequestOptions,
  STORE_NUMBER,
  STORES,
  storedText,
  tamperedD1,
} from '../harness'
import { cron, keepHouse } from '../inbox/pipeline'
import { arrived, authenticate, comeBack, customersWorld, newDomain, open } from './customers'

beforeEach(() => {
  stopClock()
})

const ADA = { subject: 'sub-zqulo', email: 'zqulo-ada@acme.dev', email_verified: true, name: 'Zquloada' }
const MARK = /zqulo/i
const upkeep = (bindings = {}) => cron({ EVENTS: lossyQueue().EVENTS, ...bindings })
const count = async (table: string, project: string) =>
  DIRECTORY.prepare(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`).bind(project).first('n')

describe('an erased consumer', () => {
  it('is nowhere: its identities are gone at once, and codes that nobody exchanged soon after', async () => {
    const { signIn, arrive, consumers, project } = await customersWorld()
    const { consumer } = await signIn(ADA)
    await arrive(ADA)
    // Of one that was merged into it, too.
    const merged = await signIn({ ...ADA, subject: 'sub-zqulo-2', email: 'zqulo@other.dev' })
    await consumers.merge(merged.consumer.id, consumer.id)
    await consumers.erase(consumer.id)
    expect(await count('sso_identities', project)).toBe(0)
    advance(2 * MINUTE)
    await upkeep()
    expect(await storedText()).not.toMatch(MARK)
  })

  it('is nowhere either after a sign-in that was under way, or if the directory did not answer', async () => {
    const { signIn, authorize, consumers, project } = await customersWorld()
    const { consumer } = await signIn(ADA)
    const at = await open((await authorize()).body.url)
    // Erased after the sign-in has read the consumer, and before it writes the identity.
    let erased = false
    const DB = tamperedD1(async ({ sql, run }) => {
      if (!sql.includes('INSERT INTO "sso_codes"') || erased) return run()
      erased = true
      await consumers.erase(consumer.id)
      return run()
    })
    const answer = await comeBack(at, ADA, { bindings: { DB }, headers: { Cookie: at.cookie } })
    expect(arrived(answer).error_description).toMatch(/^sign_in_ended: /)
    await DIRECTORY.prepare(
      "INSERT INTO sso_identities VALUES ('idn_late', ?, 'sso_1', 'https://idp.dev', 'sub-zqulo', NULL, ?, 'zqulo@acme.dev', 1, 1)",
    )
      .bind(project, consumer.id)
      .run()
    advance(2 * MINUTE)
    await upkeep()
    expect(await count('sso_identities', project)).toBe(0)
    expect(await storedText()).not.toMatch(MARK)
  })

  it('is somebody new when they sign in again', async () => {
    const { signIn, consumers } = await customersWorld()
    const first = await signIn(ADA)
    await consumers.erase(first.consumer.id)
    const again = await signIn(ADA)
    expect([again.created, again.consumer.id === first.consumer.id]).toEqual([true, false])
  })
})

it.each([
  ['a newcomer', false],
  ['somebody who is known', true],
])('a connection that is disabled while %s signs in signs nobody in', async (_, known) => {
  const { signIn, authorize, connection, project } = await customersWorld()
  if (known) await signIn(ADA)
  const at = await open((await authorize()).body.url)
  const disabled = DIRECTORY.prepare("UPDATE sso_connections SET state = 'disabled' WHERE id = ?").bind(connection.id)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes('INSERT INTO "sso_codes"')) await disabled.run()
    return run()
  })
  const answer = await comeBack(at, ADA, { bindings: { DB }, headers: { Cookie: at.cookie } })
  expect(arrived(answer).error_description).toMatch(/^sign_in_ended: /)
  expect(await count('sso_codes', project)).toBe(0)
})

it('logins and codes that were not used are deleted', async () => {
  const { authorize, arrive, project } = await customersWorld()
  await authorize()
  await open((await authorize()).body.url)
  await arrive(ADA)
  await keepHouse()
  expect([await count('sso_logins', project), await count('sso_codes', project)]).toEqual([2, 1])
  advance(HOUR + SECOND)
  await keepHouse()
  expect([await count('sso_logins', project), await count('sso_codes', project)]).toEqual([0, 0])
})

it('if the consumer could not be made after its identity, the next sign-in makes it', async () => {
  const { authorize, arrive, signIn } = await customersWorld()
  const at = await open((await authorize()).body.url)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.startsWith('insert into "consumers"')) throw new Error('D1_ERROR: no')
    return run()
  })
  expect((await comeBack(at, ADA, { bindings: { DB }, headers: { Cookie: at.cookie } })).status).toBe(503)
  expect((await arrive(ADA)).code).toBeDefined()
  expect(await signIn(ADA)).toMatchObject({ created: false, consumer: { state: 'active' } })
})

it('of two first sign-ins at once, one says that it has created the consumer', async () => {
  const { authorize, arrive, token } = await customersWorld()
  const at = await open((await authorize()).body.url)
  let other: string | undefined
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.startsWith('insert into "consumers"') && other === undefined) {
      other = ''
      advance(SECOND)
      other = (await arrive(ADA)).code
    }
    return run()
  })
  const first = arrived(await comeBack(at, ADA, { bindings: { DB }, headers: { Cookie: at.cookie } }))
  const answers = [await token(first.code ?? ''), await token(other ?? '')].map(({ body }) => body)
  expect(answers[0]?.consumer).toEqual(answers[1]?.consumer)
  expect(answers[0]?.consumer).not.toBeUndefined()
  expect(answers.map(({ created }) => created)).toEqual([false, true])
})

it('of two first sign-ins at once, the one that creates the consumer says so, though the identity is of the other', async () => {
  const { authorize, token } = await customersWorld()
  const [at, later] = [await open((await authorize()).body.url), await open((await authorize()).body.url)]
  const back = (to: typeof at, DB: D1Database) =>
    comeBack(to, ADA, { bindings: { DB }, headers: { Cookie: to.cookie } })
  // Both find nobody. The later one records its identity after the other, and creates the consumer before it.
  const [recorded, created] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = back(
    at,
    tamperedD1(async ({ sql, run }) => {
      if (!sql.startsWith('insert into "consumers"')) return run()
      recorded.resolve()
      await created.promise
      return run()
    }),
  )
  const second = await back(
    later,
    tamperedD1(async ({ sql, run }) => {
      if (/insert into "sso_identities"/i.test(sql)) await recorded.promise
      return run()
    }),
  )
  created.resolve()
  const answers = [await token(arrived(await first).code ?? ''), await token(arrived(second).code ?? '')].map(
    ({ body }) => body,
  )
  expect(answers.map(({ created }) => created)).toEqual([false, true])
})

it('says that it has created the consumer, if the database lost its answer and was asked again', async () => {
  const { authorize, token } = await customersWorld()
  const at = await open((await authorize()).body.url)
  let lost = false
  const DB = tamperedD1(async ({ sql, run }) => {
    const result = await run()
    if (!sql.startsWith('insert into "consumers"') || lost) return result
    lost = true
    throw new Error(D1_LOST)
  })
  const { code } = arrived(await comeBack(at, ADA, { bindings: { DB }, headers: { Cookie: at.cookie } }))
  expect(lost).toBe(true)
  expect((await token(code ?? '')).body.created).toBe(true)
})

describe('the cost of', () => {
  const KEY = 1
  const cost = async (work: (options: RequestOptions) => Promise<unknown>) => {
    const { DB, count } = countingD1()
    await work({ bindings: { DB } })
    return { trips: count.trips, written: count.rows_written }
  }

  it('each call: two trips and at most two rows; the end of a sign-in, four trips, or five for a new consumer', async () => {
    const domain = newDomain()
    const { authorize, token, consumers } = await customersWorld({ domains: [domain] })
    await consumers.put('linked', { email: `linked@${domain}` })
    const linked = { subject: 'linked', email: `linked@${domain}`, email_verified: true }
    expect(await cost((o) => authorize({}, o))).toEqual({ trips: KEY + 2, written: 1 })
    const link = (await authorize()).body.url
    expect(await cost((o) => call(link, o))).toEqual({ trips: 1, written: 2 })
    const finish = async (person: { subject: string }) => {
      const at = await open((await authorize()).body.url)
      const back = await authenticate(at, person)
      let code = ''
      const end = await cost(async (o) => {
        code = arrived(await comeBack(at, person, { ...o, headers: { Cookie: at.cookie } })).code ?? ''
      })
      return { back, end, code }
    }
    const made = await finish({ subject: 'new' })
    // Taking the login; the identity and its code; the consumer, which the feed tells.
    expect(made.end).toEqual({ trips: 1 + 1 + 1 + 1, written: 1 + 3 + 2 + 2 + 1 })
    expect(await cost((o) => token(made.code, {}, o))).toEqual({ trips: KEY + 2, written: 1 })
    expect((await finish({ subject: 'new' })).end).toEqual({ trips: 1 + 1 + 1 + 1, written: 1 + 1 + 2 })
    expect((await finish(linked)).end).toEqual({ trips: 1 + 1 + 1 + 1, written: 1 + 3 + 1 + 2 })
    const addressed = { subject: 'addressed', email: `addressed@${domain}`, email_verified: true }
    expect((await finish(addressed)).end).toEqual({ trips: 1 + 1 + 1 + 1 + 1, written: 1 + 3 + 2 + 2 + 2 })
  })
})

it.runIf(STORES.length > 1)('people are in the directory, and consumers in the store of their project', async () => {
  const { signIn, project } = await customersWorld()
  await signIn(ADA)
  expect(STORE_NUMBER).not.toBe(0)
  expect(await count('sso_identities', project)).toBe(1)
  expect(await count('consumers', project)).toBe(0)
})
