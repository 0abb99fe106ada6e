import { describe, expect, it } from 'vitest'
import { MAX_ENTRIES_LOOKED_AT } from '../../src/audit-log/filters'
import { newId } from '../../src/lib/ids'
import { MINUTE } from '../../src/lib/time'
import { visit } from '../console/visit'
import { addMember, BESIDE, call, countingD1, D1_LOST, DIRECTORY, failingD1, freshKey, mint, STORE } from '../harness'
import { as, told } from '../members/members'

/*
 * A project's log is in its store, and what concerns its members in the directory. It reads as one log, whether these are
 * one database or two.
 */

type World = Awaited<ReturnType<typeof freshKey>>
const log = ({ project, secret }: World, query = '', bindings = {}) =>
  call(`/platform/v1/audit-log?${query}`, { token: secret, project, bindings })

/** A project whose changes took turns: one of a key, one of a member. */
async function mixed() {
  const world = await freshKey()
  const person = await addMember(world.project, 'viewer')
  const roles = ['developer', 'viewer'] as const
  for (let n = 0; n < 6; n++) {
    await mint(world.owner.token, world.project)
    await as(world.project, world.secret).give(person.user, roles[n % 2] ?? 'viewer')
  }
  return world
}

describe('the log of a project', () => {
  it('has the changes of members among the others, in their order, page by page', async () => {
    const world = await mixed()
    const { body } = await log(world, 'limit=100')
    expect(body.data.map(({ action }) => action)).toEqual([
      ...Array.from({ length: 6 }, () => ['member.role_changed', 'api_key.minted']).flat(),
      'api_key.minted',
      'project.created',
    ])
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof log>> = await log(world, `limit=3${cursor && `&cursor=${cursor}`}`)
      paged.push(...page.body.data.map(({ id }) => id))
      cursor = page.body.next_cursor
    }
    expect(paged).toEqual(body.data.map(({ id }) => id))
    expect((await log(world, 'action=member.*')).body.data).toHaveLength(6)
    expect((await log(world, 'action=member.*')).body.data[0].actor).toMatchObject({
      type: 'api_key',
      id: world.key.id,
      name: 'test key',
    })
    const page = await visit(`/console/p/${world.project}/platform/settings/audit-log`, world.owner.token)
    expect(page.text).toContain('member.role_changed')
    expect(page.text).toContain('api_key.minted')
  })

  it('stops where either part has looked at as much as a page may, and goes on from there', async () => {
    const world = await freshKey()
    const at = Date.now() + MINUTE
    const insert = (database: D1Database, n: number, from: number) => {
      const ids = JSON.stringify(Array.from({ length: n }, (_, i) => newId('aud', from + i)))
      const sql = `INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id)
        SELECT ?, value, 'user', 'usr_x', 'other', 'device', 'usr_x', 'req_x' FROM json_each(?)`
      return database.prepare(sql).bind(world.project, ids).run()
    }
    await insert(DIRECTORY, MAX_ENTRIES_LOOKED_AT, at)
    const found: string[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page: Awaited<ReturnType<typeof log>> = await log(
        world,
        `action=project.created${cursor && `&cursor=${cursor}`}`,
      )
      found.push(...page.body.data.map(({ action }) => action))
      expect(page.body.truncated).toBe(page.body.next_cursor !== null)
      cursor = page.body.next_cursor
    }
    expect([found, pages]).toEqual([['project.created'], 2])
  })

  it('is read in one trip, or in two at the same time', async () => {
    const world = await freshKey()
    await log(world)
    const { DB, count } = countingD1()
    // The addresses of users take another one.
    expect((await log(world, 'actor_id=key_none', { DB })).status).toBe(200)
    expect(count.trips).toBe(1 + BESIDE)
  })

  it.runIf(BESIDE > 0)('is not shown in part while the directory does not answer', async () => {
    const world = await freshKey()
    expect(told(await log(world, '', { DB: failingD1(D1_LOST), STORE_2: STORE }))).toEqual([
      503,
      'database_unavailable',
    ])
  })
})
