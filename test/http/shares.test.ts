import { describe, expect, it } from 'vitest'
import { BLOCK_MS, COSTLY_ROWS, MAX_COSTLY_UNITS } from '../../src/http/limits'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { type Answer, call, freshKey, mint, ORDINARY, PROJECTS, tamperedD1 } from '../harness'

/* One caller must leave some of its project's share to the others, and one user some of the service. */

const KEYS = '/platform/v1/api-keys'
const PREVIEWED = '/platform/v1/billing/plans/pln_x/preview'
const LOG = '/platform/v1/audit-log?action=other'
const EACH = ['LIMIT_CALLER_COSTLY', 'LIMIT_USER_COSTLY', 'LIMIT_PROJECT_COSTLY'] as const
type Limiter = (typeof EACH)[number]

type Who = { project: string; token: string }
const preview = ({ project, token }: Who, bindings: object = {}) =>
  call(PREVIEWED, { method: 'POST', json: { rank: 1 }, project, token, bindings })
/** A call that reads many rows. */
const largeRead = ({ project, token }: Who, bindings: object = {}, rows = COSTLY_ROWS + 1) => {
  let first = true
  const DB = tamperedD1(async ({ run }) => {
    const results = await run()
    const told = results.map((one, i) => ({ ...one, meta: { ...one.meta, rows_read: first && i === 0 ? rows : 0 } }))
    first = false
    return told
  })
  return call(LOG, { project, token, bindings: { DB, ...bindings } })
}

/** More than the call reads in the project's store, if that is not the directory. */
const A_FEW = 100

/** Limiters that note what they are asked to count, and that some refuse. */
function noting(...full: Limiter[]) {
  const noted: string[] = []
  const limiter = (name: Limiter): [Limiter, RateLimit] => [
    name,
    {
      limit: async ({ key }) => {
        noted.push(`${name} ${key}`)
        return { success: !full.includes(name) }
      },
    },
  ]
  return { bindings: Object.fromEntries(EACH.map(limiter)), noted }
}

/** A project with two keys of one user, and another project of that user. */
async function twoKeys() {
  const { project, owner } = await freshKey()
  const keyIn = async (of: string) => {
    const { key, secret } = await mint(owner.token, of, { scopes: [...ORDINARY, 'audit_log:read'] })
    return { project: of, token: secret, id: key.id as string }
  }
  const made = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Another' } })
  const elsewhere = made.body.id as string
  return { project, owner, one: await keyIn(project), two: await keyIn(project), far: await keyIn(elsewhere) }
}

const limitOf = ({ status, headers }: Answer) => [status, headers.get('RateLimit-Policy')]
const refusedBy = {
  LIMIT_CALLER_COSTLY: [429, '"caller_costly";q=30;w=60'],
  LIMIT_USER_COSTLY: [429, '"user_costly";q=300;w=60'],
  LIMIT_PROJECT_COSTLY: [429, '"project_costly";q=60;w=60'],
}

describe('a costly call', () => {
  it('of a key counts as the key’s, as those of its user’s keys, and as the project’s', async () => {
    const { one, owner, project } = await twoKeys()
    const { bindings, noted } = noting()
    await preview(one, bindings)
    expect(noted).toEqual([
      `LIMIT_CALLER_COSTLY ${one.id}`,
      `LIMIT_USER_COSTLY ${owner.user}`,
      `LIMIT_PROJECT_COSTLY ${project}:api_key`,
    ])
  })

  it('of a person counts as the person’s, whatever the session and the project, and as the project’s', async () => {
    const { project, owner } = await twoKeys()
    const { bindings, noted } = noting()
    await preview({ project, token: owner.token }, bindings)
    expect(noted).toEqual([`LIMIT_CALLER_COSTLY ${owner.user}`, `LIMIT_PROJECT_COSTLY ${project}:session`])
  })

  // Who is refused for a moment beside the caller, without asking.
  it.each([
    ['LIMIT_CALLER_COSTLY', []],
    ['LIMIT_USER_COSTLY', ['two', 'far']],
    ['LIMIT_PROJECT_COSTLY', ['two']],
  ] as const)('over %s is refused before it counts further, for a moment with %j', async (limiter, others) => {
    stopClock()
    const keys = await twoKeys()
    for (const who of ['one', 'two', 'far'] as const) await preview(keys[who])
    const { bindings, noted } = noting(limiter)
    expect(limitOf(await preview(keys.one, bindings))).toEqual(refusedBy[limiter])
    expect(noted.map((one) => one.split(' ')[0])).toEqual(EACH.slice(0, EACH.indexOf(limiter) + 1))
    for (const who of ['one', 'two', 'far'] as const) {
      const isRefused = who === 'one' || (others as readonly string[]).includes(who)
      expect([who, limitOf(await preview(keys[who]))]).toEqual([who, isRefused ? refusedBy[limiter] : [404, null]])
    }
    advance(SECOND)
    expect((await preview(keys.one)).status).toBe(404)
  })
})

it('a write of a key counts as the key’s, and that of a person as the person’s; over the limit, the others go on', async () => {
  stopClock()
  const { one, two, owner, project } = await twoKeys()
  const noted: string[] = []
  const limiter = (success: boolean): RateLimit => ({
    limit: async ({ key }) => {
      noted.push(key)
      return { success }
    },
  })
  const write = ({ token }: { token: string }, success = true) =>
    call('/platform/v1/consumers/ext:nobody', {
      ...{ method: 'PUT', json: {}, project, token },
      bindings: { LIMIT_CALLER_WRITES: limiter(success) },
    })
  const refused = [429, '"caller_writes";q=600;w=60']
  expect([limitOf(await write(one, false)), limitOf(await write(one))]).toEqual([refused, refused])
  for (const who of [two, owner]) expect((await write(who)).status).toBeLessThan(300)
  expect(noted).toEqual([one.id, two.id, owner.user])
})

it('a write of a person outside of a project counts too, and a read does not', async () => {
  const { owner } = await twoKeys()
  const asked: string[] = []
  const LIMIT_CALLER_WRITES = {
    limit: async ({ key }: RateLimitOptions) => ({ success: asked.push(key) === 0 }),
  } as RateLimit
  const user = (method: string, json?: object) =>
    call('/auth/user', { method, token: owner.token, ...(json && { json }), bindings: { LIMIT_CALLER_WRITES } })
  expect((await user('GET')).status).toBe(200)
  expect(limitOf(await user('PATCH', { notices: true }))).toEqual([429, '"caller_writes";q=600;w=60'])
  expect(asked).toEqual([owner.user])
})

describe('a call that reads many rows', () => {
  it.each([
    [COSTLY_ROWS - A_FEW, 0],
    [COSTLY_ROWS + 1, 1],
    [3 * COSTLY_ROWS - A_FEW, 2],
    [MAX_COSTLY_UNITS * COSTLY_ROWS, MAX_COSTLY_UNITS],
    [1_000 * COSTLY_ROWS, MAX_COSTLY_UNITS],
  ])('counts %i rows %i times', async (rows, times) => {
    const { project, secret } = await freshKey()
    const { bindings, noted } = noting()
    await call(KEYS, { project, token: secret }) // the isolate knows the key then, and reads in one trip
    expect((await largeRead({ project, token: secret }, bindings, rows)).status).toBe(200)
    expect(noted).toHaveLength(times * EACH.length)
  })

  it('counts a PUT of a catalog by the rows that it writes, too', async () => {
    const { project, secret } = await freshKey()
    const { bindings, noted } = noting()
    const features = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`f${n}`, { name: 'F', type: 'boolean' }]),
    )
    const answer = await call('/platform/v1/billing/catalog', {
      ...{ method: 'PUT', project, token: secret },
      ...{ bindings: bindings as object, json: { features, plans: {} } },
    })
    expect(answer.status).toBe(200)
    expect(noted.length).toBeGreaterThanOrEqual(2 * EACH.length)
  })

  it.each([
    ['LIMIT_CALLER_COSTLY', []],
    ['LIMIT_USER_COSTLY', ['two', 'far']],
    ['LIMIT_PROJECT_COSTLY', ['two']],
  ] as const)('over %s pauses its route for its caller, and with it for %j', async (limiter, others) => {
    stopClock()
    const keys = await twoKeys()
    const { bindings, noted } = noting(limiter)
    expect((await largeRead(keys.one, bindings, 3 * COSTLY_ROWS)).status).toBe(200)
    expect(noted.map((one) => one.split(' ')[0])).toEqual(EACH.slice(0, EACH.indexOf(limiter) + 1))
    const asked = async () => [
      limitOf(await largeRead(keys.one)),
      limitOf(await largeRead(keys.two)),
      limitOf(await largeRead(keys.far)),
    ]
    const of = (who: string) => ((others as readonly string[]).includes(who) ? refusedBy[limiter] : [200, null])
    expect(await asked()).toEqual([refusedBy[limiter], of('two'), of('far')])
    expect((await call(KEYS, keys.one)).status).toBe(200)
    advance(BLOCK_MS)
    expect(await asked()).toEqual([
      [200, null],
      [200, null],
      [200, null],
    ])
  })
})

it('costly calls of one user’s keys run one at a time, in all projects', async () => {
  const { one, far } = await twoKeys()
  const stranger = await freshKey()
  await preview(one) // the isolate knows the keys then
  await preview(far)
  const gate = Promise.withResolvers<void>()
  let [here, there] = [0, 0]
  const held = (count: () => void) =>
    tamperedD1(async ({ run }) => {
      count()
      await gate.promise
      return run()
    })
  const DB = held(() => here++)
  const STORES = { DB: held(() => there++) }
  const first = preview(one, { DB })
  while (here === 0) await scheduler.wait(5)
  const second = preview(far, STORES)
  expect((await preview({ project: stranger.project, token: stranger.secret })).status).toBe(404)
  expect(there).toBe(0)
  gate.resolve()
  expect([(await first).status, (await second).status]).toEqual([404, 404])
})
