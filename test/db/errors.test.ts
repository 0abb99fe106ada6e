import { describe, expect, it } from 'vitest'
import {
  type Answer,
  BESIDE,
  call,
  countingD1,
  freshKey,
  freshProject,
  type RequestOptions,
  tamperedD1,
} from '../harness'
import { captureLog, MODES, rows } from '../inbox/pipeline'

const KEYS = '/platform/v1/api-keys'
/** A read that asks the project's store alone. */
const OWN = `${KEYS}/self`

/** What Cloudflare says to retry. */
const TRANSIENT = [
  'D1_ERROR: D1 DB reset because its code was updated.',
  'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
  'D1_ERROR: Network connection lost.',
  'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
  'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  "D1_ERROR: Can't read from request stream because client disconnected.",
]
/** What another query would make worse, or would meet again. */
const LASTING = [
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
]

/** D1 whose first calls fail with this error, having run or not. `calls` counts them all. */
function failingFirst(message: string, times: number, mode: (typeof MODES)[number] = 'before') {
  const seen = { calls: 0 }
  const DB = tamperedD1(async ({ run }) => {
    seen.calls += 1
    if (seen.calls > times) return run()
    if (mode === 'after') await run()
    throw new Error(message)
  })
  return { DB, seen }
}

/** How many calls of D1 a request makes where nothing fails. */
async function callsOf(path: string, options: RequestOptions): Promise<number> {
  const { DB, count } = countingD1()
  await call(path, { ...options, bindings: { DB } })
  return count.trips
}

describe('a read that D1 fails', () => {
  it.each(TRANSIENT)('is made again, once: %s', async (message) => {
    const { project, secret: token } = await freshKey()
    await call(OWN, { project, token }) // writes last_used_at
    const calls = await callsOf(OWN, { project, token })
    for (const [times, status] of [
      [1, 200],
      [2, 503],
    ] as const) {
      const { DB, seen } = failingFirst(message, times)
      const answer = await call(OWN, { project, token, bindings: { DB } })
      expect([answer.status, seen.calls]).toEqual([status, status === 200 ? calls + 1 : 2])
    }
  })

  it.each(LASTING)('is not made again where that would not help: %s', async (message) => {
    const { project, secret: token } = await freshKey()
    const { DB, seen } = failingFirst(message, 1)
    const answer = await call(OWN, { project, token, bindings: { DB } })
    expect([answer.status, answer.body.code, seen.calls]).toEqual([503, 'database_unavailable', 1])
  })
})

it.each(MODES)('a write that does not say it may be repeated is not, %s it was executed', async (mode) => {
  const { owner, project } = await freshProject()
  let creates = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (!/insert into "projects"/i.test(sql)) return run()
    creates += 1
    if (mode === 'after') await run()
    throw new Error('D1_ERROR: Network connection lost.')
  })
  const json = { name: 'Once' }
  const { status } = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json, bindings: { DB } })
  expect([status, creates]).toEqual([503, 1])
  const { body } = await call('/platform/v1/projects', { token: owner.token, project })
  // In a store that is not the directory, the project is not there before the directory has it.
  expect(body.data).toHaveLength(mode === 'after' && !BESIDE ? 2 : 1)
})

describe('a rotation whose commit is answered with an error', () => {
  const lost = 'D1_ERROR: Network connection lost.'
  const timeout = 'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.'

  /** Rotates a key with itself, while D1 fails so many commits. `reads`: whether later reads fail too. */
  async function rotate(message: string, mode: (typeof MODES)[number], { times = 1, reads = false } = {}) {
    const { project, owner, key, secret: old } = await freshKey()
    let commits = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      const isCommit = /update "api_keys" set "key_prefix"/i.test(sql)
      if (!isCommit && !(reads && commits > 0)) return run()
      if (isCommit) commits += 1
      if (isCommit && commits > times) return run()
      if (isCommit && mode === 'after') await run()
      throw new Error(message)
    })
    const answer = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: old, bindings: { DB } })
    expect(commits).toBeGreaterThan(0)
    const works = async (token: string) => (await call(KEYS, { project, token })).status === 200
    const audit = await call('/platform/v1/audit-log', { project, token: owner.token })
    const rotations = audit.body.data.filter(({ action }) => action === 'api_key.rotated').length
    const retired = await rows('SELECT hash FROM retired_secrets WHERE key_id = ?', key.id)
    return { answer, works, old, rotations, retired: retired.length }
  }
  const secretOf = ({ body }: Answer) => body.secret

  it.each([
    ['the answer was lost', lost, 'after', 1],
    ['the answer was lost, twice', lost, 'after', 2],
    ['it did not happen, and does when it is sent again', lost, 'before', 1],
    ['it happened, and D1 gave up on it', timeout, 'after', 1],
  ] as const)('is answered as what it was: %s', async (_, message, mode, times) => {
    const { answer, works, old, ...left } = await rotate(message, mode, { times })
    expect(answer.status).toBe(200)
    expect([await works(secretOf(answer)), await works(old)]).toEqual([true, false])
    expect(left).toEqual({ rotations: 1, retired: 1 })
  })

  it('is refused where it did not happen, and the old secret is still the one', async () => {
    const { answer, works, old, ...left } = await rotate(timeout, 'before')
    expect([answer.status, answer.body.code, await works(old)]).toEqual([503, 'database_unavailable', true])
    expect(left).toEqual({ rotations: 0, retired: 0 })
  })

  it('is refused where nobody can tell', async () => {
    const { answer, rotations } = await rotate(timeout, 'after', { reads: true })
    expect([answer.status, answer.body.code, rotations]).toEqual([503, 'database_unavailable', 1])
  })
})

describe('a full database', () => {
  it.each([
    'D1_ERROR: Exceeded maximum DB size',
    'D1_ERROR: Exceeded maximum account storage limit',
    'D1_ERROR: database or disk is full: SQLITE_FULL',
  ])('is a fault of its own: %s', async (message) => {
    captureLog()
    const { owner } = await freshProject()
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/insert/i.test(sql)) throw new Error(message)
      return run()
    })
    const json = { name: 'No room' }
    const options = { method: 'POST', token: owner.token, json, bindings: { DB } }
    const answer = await call('/platform/v1/projects', options)
    expect([answer.status, answer.body.code]).toEqual([503, 'database_full'])
    expect(Number(answer.headers.get('Retry-After'))).toBe(300)
  })
})
