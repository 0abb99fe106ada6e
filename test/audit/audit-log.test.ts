import { describe, expect, it } from 'vitest'
import { MAX_ENTRIES_LOOKED_AT } from '../../src/audit-log/filters'
import { newId } from '../../src/lib/ids'
import { iso, MINUTE } from '../../src/lib/time'
import { type Answer, BESIDE, call, countingD1, freshKey, mint, STORE } from '../harness'
import type { Json } from '../harness/json-schema'

const read = (world: { project: string; secret: string }, query: string, bindings = {}): Promise<Answer> =>
  call(`/platform/v1/audit-log?${query}`, { token: world.secret, project: world.project, bindings })

type Seed = { at: number; actor_type?: string; actor_id?: string; action?: string; object?: string; details?: object }

/** Writes entries as changes would have. */
async function insert(project: string, seeds: readonly Seed[]): Promise<void> {
  const rows = seeds.map(({ at, ...seed }) => ({ id: newId('aud', at), ...seed }))
  await STORE.prepare(
    `INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id, details)
      SELECT ?1, value->>'id', coalesce(value->>'actor_type', 'user'), coalesce(value->>'actor_id', 'usr_x'),
        coalesce(value->>'action', 'project.renamed'), 'project', coalesce(value->>'object', 'prj_x'), 'req_x', value->'details'
      FROM json_each(?2)`,
  )
    .bind(project, JSON.stringify(rows))
    .run()
}

describe('the audit log', () => {
  it('names each actor: a user by their email, an API key by its name, a revoked one too', async () => {
    const world = await freshKey()
    const { key, secret } = await mint(world.owner.token, world.project, { name: 'Importer' })
    const post = (path: string, method: string) =>
      call(`/platform/v1/api-keys/${path}`, { method, token: secret, project: world.project })
    await post(world.key.id, 'DELETE')
    await post(key.id, 'DELETE')
    await insert(world.project, [{ at: Date.now() + MINUTE, actor_type: 'system', actor_id: 'cron' }])
    const { body } = await call('/platform/v1/audit-log', { token: world.owner.token, project: world.project })
    const byKey = { type: 'api_key', id: key.id, email: null, name: 'Importer' }
    const byUser = { type: 'user', id: world.owner.user, email: world.owner.email, name: null }
    expect(body.data.map(({ actor }) => actor)).toEqual([
      { type: 'system', id: 'cron', email: null, name: null },
      ...[byKey, byKey],
      ...[byUser, byUser, byUser],
    ])
  })

  it('is filtered by actor, action, object and time, and by all of them together', async () => {
    const world = await freshKey()
    const t = Date.now() + MINUTE
    await insert(world.project, [
      { at: t, actor_id: 'usr_a', action: 'api_key.minted', object: 'key_1' },
      { at: t + 1, actor_id: 'usr_b', action: 'api_key.revoked', object: 'key_1' },
      { at: t + 2, actor_id: 'usr_a', action: 'connection.created', object: 'con_1' },
      { at: t + 3, actor_id: 'usr_a', action: 'api_keys_of_another_name', object: 'key_2' },
    ])
    const since = `created_after=${iso(t)}`
    for (const [query, found] of [
      ['', [3, 2, 1, 0]],
      ['actor_id=usr_a', [3, 2, 0]],
      ['action=api_key.minted', [0]],
      ['action=api_key.*', [1, 0]],
      ['action=*', [3, 2, 1, 0]],
      ['object_id=key_1', [1, 0]],
      ['object_type=project', [3, 2, 1, 0]],
      ['object_type=api_key', []],
      [`created_before=${iso(t + 2)}`, [1, 0]],
      [`actor_id=usr_a&action=api_key.*&object_id=key_1&created_before=${iso(t + 1)}`, [0]],
      ['actor_id=usr_nobody', []],
    ] as const) {
      const { status, body } = await read(world, `${since}&${query}`)
      expect([query, status]).toEqual([query, 200])
      const times = ({ data }: Answer['body']) => data.map(({ created_at }: Json) => Date.parse(created_at) - t)
      expect([query, times(body)]).toEqual([query, found])
      expect([query, times((await read(world, `${since}&${query}&order=asc`)).body)]).toEqual([
        query,
        found.toReversed(),
      ])
      expect([body.truncated, body.has_more]).toEqual([false, false])
    }
  })

  it('of a consumer has the merges of others into it, and of an object with the same words nothing else', async () => {
    const world = await freshKey()
    const t = Date.now() + MINUTE
    const merged = { action: 'consumer.merged', object: 'csm_from', details: { into: 'csm_into' } }
    await insert(world.project, [
      { at: t, ...merged },
      { at: t + 1, action: 'consumer.blocked', object: 'csm_into' },
      { at: t + 2, action: 'other', object: 'csm_other', details: { into: 'csm_into' } },
    ])
    const found = async (object: string) => {
      const { body } = await read(world, `object_id=${object}`)
      return body.data.map(({ created_at }) => Date.parse(created_at) - t)
    }
    expect(await found('csm_into')).toEqual([1, 0])
    expect(await found('csm_from')).toEqual([0])
  })

  it('of another project is never found', async () => {
    const [world, other] = [await freshKey(), await freshKey()]
    const { body } = await read(world, `object_id=${other.key.id}`)
    expect(body.data).toEqual([])
  })

  it.each([
    ['action=a*b', '/action', 'malformed'],
    ['actor_id=', '/actor_id', 'out_of_range'],
    ['created_after=yesterday', '/created_after', 'malformed'],
    ['created_after=2026-01-02T00:00:00Z&created_before=2026-01-02T00:00:00Z', '/created_before', 'out_of_range'],
    ['actor=usr_a', '/actor', 'unknown_field'],
    ['order=up', '/order', 'not_one_of'],
  ])('refuses ?%s', async (query, pointer, code) => {
    const world = await freshKey()
    const { status, body } = await read(world, query)
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, pointer, code])
  })

  it.each([
    ['desc', 0],
    ['asc', 3 * MAX_ENTRIES_LOOKED_AT],
  ])('looks at a bounded number of entries a page, and finds the rest on the next ones: %s', async (order, last) => {
    const world = await freshKey()
    const t = Date.now() + MINUTE
    const rare = { actor_id: 'usr_rare' }
    const common = Array.from({ length: 2 * MAX_ENTRIES_LOOKED_AT }, (_, i) => ({
      at: t + 10 + i,
      actor_type: 'system',
    }))
    await insert(world.project, [{ at: t + last, ...rare }, { at: t + last + 1, ...rare }, ...common])
    await read(world, '') // The isolate then knows the key, so its read travels with the list.
    const found: string[] = []
    const pages: [number, boolean][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { DB, count } = countingD1()
      const query = `actor_id=usr_rare&limit=1&order=${order}${cursor && `&cursor=${cursor}`}`
      const { body } = await read(world, query, { DB })
      // One for the entries, and one to the directory for the addresses of the users who made them.
      expect(count.trips - BESIDE).toBe(body.data.length > 0 ? 2 : 1)
      expect(count.rows_read).toBeLessThanOrEqual(2 * MAX_ENTRIES_LOOKED_AT + 20)
      found.push(...body.data.map(({ id }) => id))
      pages.push([body.data.length, body.truncated])
      cursor = body.next_cursor
    }
    expect(new Set(found).size).toBe(2)
    expect(pages).toEqual([
      [0, true],
      [0, true],
      [1, false],
      [1, false],
    ])
    const { DB, count } = countingD1()
    expect((await read(world, `limit=5&order=${order}`, { DB })).body.data).toHaveLength(5)
    expect(count.rows_read).toBeLessThanOrEqual(30)
  })
})
