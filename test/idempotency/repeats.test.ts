import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import {
  type Answer,
  addMember,
  call,
  captureConsole,
  countingD1,
  D1_LOST,
  fillTable,
  freshConnection,
  freshKey,
  freshProject,
  mint,
  owning,
  STORE,
  storedTables,
  storedText,
  tamperedD1,
  unconfirm,
} from '../harness'
import { rowsOfAll } from '../inbox/pipeline'
import { madeBy, newIdempotencyKey, type Place, placeOf, STATED, type Stated, sent, type Tried } from './calls'

/** What a request with an Idempotency-Key is answered if an earlier one had the key, and what is kept of it. */

const API = '/platform/v1'
const known = Object.entries(STATED)
const isReplay = ({ headers }: Answer) => headers.get('Idempotency-Replayed') === 'true'
const keptRows = () => rowsOfAll('SELECT * FROM idempotency')

/** The tables that some work changes. */
async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = await storedTables()
  await work()
  const after = await storedTables()
  return Object.keys(after).filter((table) => after[table] !== before[table])
}

/** D1 that fails once, at the batch that keeps the key: before it is executed, or when only its answer is lost. */
function failingOnce(when: 'before' | 'after') {
  let failed = false
  return tamperedD1(async ({ sql, run }) => {
    if (failed || !sql.includes('insert into "idempotency"')) return run()
    failed = true
    if (when === 'after') await run()
    throw new Error('D1_ERROR: the worker was stopped')
  })
}

describe.each(known)('%s', (_, stated) => {
  it('is executed once, whatever ends the first request, and the key is good for no other request', async () => {
    const place = await placeOf(stated)
    const request = await stated.request(place, 0)
    const key = newIdempotencyKey()
    const before = await madeBy(stated)
    for (const when of ['before', 'after'] as const) {
      const failed = await sent(place, request, key, { bindings: { DB: failingOnce(when) } })
      // A rotation finds out by itself that it has been done.
      if (when === 'before' || stated.repeat !== 'refused') expect([when, failed.status]).toEqual([when, 503])
    }
    const again = await sent(place, request, key)
    const expected = stated.repeat === 'refused' ? [409, false] : [stated.status, true]
    expect([again.status, isReplay(again)], again.text).toEqual(expected)
    const made = await madeBy(stated)
    expect(made.objects - before.objects).toBe(stated.table ? 1 : 0)
    expect(made.entries - before.entries).toBe(stated.action ? 1 : 0)
    const other = request.other
      ? { ...request, json: request.other }
      : { ...request, path: `${API}/projects`, json: { name: 'Other' } }
    if (!request.other && other.path === `${API}/projects`) return
    const changed = await changedBy(async () => {
      const reused = await sent(place, other, key)
      expect([reused.status, reused.body.code]).toEqual([422, 'idempotency_key_reused'])
    })
    expect(changed).toEqual([])
  })
})

describe('the header', () => {
  const create = (place: Place, key: string) => sent(place, { path: `${API}/consumers`, json: {} }, key)

  it.each([
    ['one character', 'k', 201],
    ['a UUID', '5f0c1bd2-0a1e-4a7e-9a51-7f4b0c8a4f02', 201],
    ['255 characters', 'k'.repeat(255), 201],
    ['every visible character', Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join(''), 201],
    ['256 characters', 'k'.repeat(256), 400],
    ['nothing', '', 400],
    ['quotes around nothing', '""', 400],
    ['a space', 'a b', 400],
    ['two keys', 'a, b', 400],
    ['a character beyond ASCII', 'clé', 400],
  ])('%s', async (_, key, status) => {
    const answer = await create(await freshKeyPlace(), key)
    expect([answer.status, answer.body.code]).toEqual([status, status === 201 ? undefined : 'invalid_idempotency_key'])
  })

  it('is the same key with quotes around it', async () => {
    const place = await freshKeyPlace()
    const first = await create(place, '"quoted"')
    const again = await create(place, 'quoted')
    expect([again.status, isReplay(again), again.body.id]).toEqual([201, true, first.body.id])
    expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'))
  })

  it('means something else for each credential and each project', async () => {
    const { project, owner, secret } = await freshKey()
    const other = await mint(owner.token, project)
    const member = await addMember(project, 'admin')
    const elsewhere = await freshKey()
    const places = [
      { project, owner, token: secret },
      { project, owner, token: other.secret },
      { project, owner, token: owner.token },
      { project, owner, token: member.token },
      { ...elsewhere, token: elsewhere.secret },
    ]
    const ids = new Set<string>()
    for (const place of places) ids.add((await create(place, 'shared')).body.id)
    expect(ids.size).toBe(places.length)
    for (const place of places) expect(isReplay(await create(place, 'shared'))).toBe(true)
  })
})

async function freshKeyPlace(): Promise<Place> {
  const { project, owner, secret } = await freshKey()
  return { project, owner, token: secret }
}

/** A request that is refused, and then what it takes so that it is not. */
type Refused = { place: Place; request: Tried; code: string; mend: () => Promise<unknown> }

const REFUSED: Record<string, () => Promise<Refused>> = {
  'a limit of the project': async () => {
    const { project, owner, secret } = await freshConnection()
    await fillTable('connections', project, 50)
    const json = { vendor: 'stripe', name: 'one too many', livemode: true }
    return {
      place: { project, owner, token: secret },
      request: { path: `${API}/billing/connections`, json },
      code: 'connection_limit_reached',
      mend: () => STORE.prepare('DELETE FROM connections WHERE project_id = ?').bind(project).run(),
    }
  },
  'a name that is taken': async () => {
    const place = await freshKeyPlace()
    const request = { path: `${API}/consumers`, json: { external_id: 'taken' } }
    await sent(place, request, null)
    const mend = () => STORE.prepare('DELETE FROM consumer_ids WHERE project_id = ?').bind(place.project).run()
    return { place, request, code: 'external_id_taken', mend }
  },
  'a reference to what is not there': async () => {
    const place = await freshKeyPlace()
    await sent(place, { path: `${API}/consumers`, json: { external_id: 'one' } }, null)
    const put = () =>
      call(`${API}/billing/features/sso`, { method: 'PUT', ...place, json: { name: 'SSO', type: 'boolean' } })
    const json = { consumer: 'ext:one', feature: 'sso' }
    return { place, request: { path: `${API}/billing/grants`, json }, code: 'validation_failed', mend: put }
  },
  'a limit of the user': async () => {
    const { project, owner } = await freshProject()
    await owning(owner.user, 99)
    const place = { project, owner, token: owner.token }
    const mend = () => owning(owner.user, 0)
    return { place, request: { path: `${API}/projects`, json: { name: 'no' } }, code: 'project_limit_reached', mend }
  },
}

describe('what is refused keeps nothing', () => {
  it.each(Object.entries(REFUSED))('%s', async (name, refusal) => {
    const { place, request, code, mend } = await refusal()
    const before = await keptRows()
    const first = await sent(place, request, 'key')
    expect([first.body.code, isReplay(first)], first.text).toEqual([code, false])
    expect(await keptRows()).toEqual(before)
    if (name === 'a limit of the user') return
    await mend()
    const second = await sent(place, request, 'key')
    expect([second.status, isReplay(second)], second.text).toEqual([201, false])
    expect(await keptRows()).toHaveLength(before.length + 1)
  })

  it('a replay of an event that is open already', async () => {
    const stated = STATED.replayWebhookEvent as Stated
    const place = await placeOf(stated)
    const request = await stated.request(place, 0)
    const first = await sent(place, request, 'first')
    const other = await sent(place, request, 'other')
    expect([other.status, other.body.replay.deduplicated, isReplay(other)]).toEqual([202, true, false])
    const again = await sent(place, request, 'first')
    expect([again.status, again.body.replay, isReplay(again)]).toEqual([202, first.body.replay, true])
  })

  it('a dry run', async () => {
    const stated = STATED.replayWebhookEvents as Stated
    const place = await placeOf(stated)
    const { path, json } = await stated.request(place, 0)
    const dry = await sent(place, { path: `${path}?dry_run=true`, json: json ?? {} }, 'key')
    expect([dry.status, dry.body.queued]).toEqual([200, 1])
    const first = await sent(place, { path, json: json ?? {} }, 'key')
    expect([first.status, first.body.queued, isReplay(first)]).toEqual([202, 1, false])
    // Nothing matches any more that could be reopened, and another replay is running.
    const again = await sent(place, { path, json: json ?? {} }, 'key')
    expect([again.status, again.body, isReplay(again)]).toEqual([202, first.body, true])
    expect(first.body.next_cursor).toEqual(expect.any(String))
  })
})

describe('a repeat shows the object', () => {
  it('as it is now', async () => {
    const place = await freshKeyPlace()
    const request = { path: `${API}/consumers`, json: { name: 'Before' } }
    const { body } = await sent(place, request, 'key')
    await call(`${API}/consumers/${body.id}`, { method: 'PATCH', ...place, json: { name: 'After' } })
    const again = await sent(place, request, 'key')
    expect([again.status, again.body.id, again.body.name]).toEqual([201, body.id, 'After'])
    expect(again.headers.get('ETag')).toBe('"2"')
  })

  it('unless it was deleted', async () => {
    const place = await freshKeyPlace()
    const request = { path: `${API}/billing/connections`, json: { vendor: 'stripe', name: 'n', livemode: true } }
    const { body } = await sent(place, request, 'key')
    await call(`${API}/billing/connections/${body.id}`, { method: 'DELETE', ...place })
    const again = await sent(place, request, 'key')
    expect([again.status, again.body.code, isReplay(again)]).toEqual([409, 'idempotent_result_gone', false])
    expect(again.body.detail).toContain(body.id)
  })
})

describe('a repeated mint', () => {
  const request = { path: `${API}/api-keys`, json: { name: 'once', scopes: ['billing:read'] } }

  async function minted() {
    stopClock()
    const place = await placeOf(STATED.mintApiKey as Stated)
    const { body } = await sent(place, request, 'key')
    const self = (secret: string) => call(`${API}/api-keys/self`, { token: secret, project: place.project })
    return { place, body, self, again: () => sent(place, request, 'key') }
  }

  it('gives a new secret of the same key, and the lost one is dead', async () => {
    const { body, again, self } = await minted()
    advance(10 * MINUTE - 1)
    const second = await again()
    const third = await again()
    expect([second.status, third.status, isReplay(third)]).toEqual([201, 201, true])
    expect([second.body.key.id, third.body.key.id]).toEqual([body.key.id, body.key.id])
    expect((await self(body.secret)).body.code).toBe('key_rotated')
    expect((await self(second.body.secret)).body.code).toBe('key_rotated')
    expect((await self(third.body.secret)).status).toBe(200)
    expect((await again()).body.code).toBe('secret_not_replayable')
  })

  type Done = Awaited<ReturnType<typeof minted>>
  const rotate = ({ place, body }: Done) => call(`${API}/api-keys/${body.key.id}/rotate`, { method: 'POST', ...place })

  it.each<[string, (done: Done) => Promise<unknown>, number, string]>([
    ['10 minutes later', async () => advance(10 * MINUTE), 409, 'secret_not_replayable'],
    ['of a key that was used', ({ self, body }) => self(body.secret), 409, 'secret_not_replayable'],
    ['of a key that was rotated', rotate, 409, 'secret_not_replayable'],
    [
      'of a key that was revoked',
      ({ place, body }) => call(`${API}/api-keys/${body.key.id}`, { method: 'DELETE', ...place }),
      409,
      'idempotent_result_gone',
    ],
    [
      'of a key that has expired',
      ({ body }) => STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(body.key.id).run(),
      409,
      'secret_not_replayable',
    ],
  ])('%s is refused', async (_, first, status, code) => {
    const done = await minted()
    await first(done)
    const answer = await done.again()
    expect([answer.status, answer.body.code, isReplay(answer)], answer.text).toEqual([status, code, false])
    expect(answer.body.detail).toContain(done.body.key.id)
    expect(answer.text).not.toContain('svc_v1_')
  })

  it('is refused if the key is used at the same moment', async () => {
    const { place, body, self } = await minted()
    let isFirst = true
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/update "api_keys"/i.test(sql) && isFirst) {
        isFirst = false
        await self(body.secret)
      }
      return run()
    })
    const answer = await sent(place, request, 'key', { bindings: { DB } })
    expect([isFirst, answer.status, answer.body.code]).toEqual([false, 409, 'secret_not_replayable'])
    expect((await self(body.secret)).status).toBe(200)
  })

  it('needs what the mint needed', async () => {
    stopClock()
    const place = await placeOf(STATED.mintApiKey as Stated)
    const admin = { ...request, json: { name: 'a', scopes: ['members:write'] } }
    const first = await sent(place, admin, 'key')
    expect(first.status).toBe(201)
    await unconfirm(place.owner.user)
    expect((await sent(place, admin, 'key')).body.code).toBe('confirmation_required')
  })
})

it('costs one statement and two rows written more, and nothing without the header', async () => {
  const place = await freshKeyPlace()
  const cost = async (key: string | null) => {
    const { DB, count } = countingD1()
    expect((await sent(place, { path: `${API}/consumers`, json: {} }, key, { bindings: { DB } })).status).toBe(201)
    return count
  }
  await cost(null) // the isolate knows the key now
  const without = await cost(null)
  const first = await cost('key')
  expect(first).toEqual({
    trips: without.trips,
    statements: without.statements + 1,
    rows_read: expect.any(Number),
    rows_written: without.rows_written + 2,
  })
  expect(first.rows_read - without.rows_read).toBeLessThanOrEqual(2)
  const again = await cost('key')
  expect([again.trips, again.rows_written]).toEqual([without.trips + 2, 0])
})

it('keeps no key, secret, bearer or body', async () => {
  const logged = captureConsole()
  const kept: string[] = []
  for (const [name, stated] of known) {
    const place = await placeOf(stated)
    const request = await stated.request(place, 0)
    const key = `canary-key-of-${name}`
    const answers = [await sent(place, request, key), await sent(place, request, key)]
    kept.push(key, place.token, ...answers.flatMap(({ body }) => (body.secret ? [body.secret] : [])))
  }
  const signing = 'whsec_canary_of_a_body'
  const { project, secret, connection } = await freshConnection()
  const place = { project, token: secret, owner: { token: '', user: '' } }
  await sent(
    place,
    { path: `${API}/billing/connections/${connection.id}/secrets`, json: { signing_secret: signing } },
    'x',
  )
  for (const text of [await storedText(), logged.join('\n')]) {
    expect([...kept, signing].filter((one) => text.includes(one))).toEqual([])
  }
  const rows = JSON.stringify(await keptRows())
  expect(rows).not.toMatch(/canary|no0|price_0|sample/)
})

it('is not lost with a transient error of D1', async () => {
  const place = await freshKeyPlace()
  let failed = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (!sql.includes('insert into "idempotency"') || failed++ > 0) return run()
    await run()
    throw new Error(D1_LOST)
  })
  const request = { path: `${API}/consumers`, json: { name: 'n' } }
  expect((await sent(place, request, 'key', { bindings: { DB } })).status).toBe(503)
  expect(isReplay(await sent(place, request, 'key'))).toBe(true)
})
