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

const MARKED = `INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id)
  SELECT ?, value, 'user', 'usr_x', 'other', 'device', 'usr_x', 'req_x' FROM json_each(?)`

/** Adds entries that no other change makes, each a millisecond after the one before. */
function insertEntries(database: D1Database, { project }: World, n: number, from: number) {
  const ids = JSON.stringify(Array.from({ length: n }, (_, i) => newId('aud', from + i)))
  return database.prepare(MARKED).bind(project, ids).run()
}

describe('the log of a project', () => {
  it.each(['desc', 'asc'])(
    'has the changes of members among the others, in their order, page by page: %s',
    async (order) => {
      const world = await mixed()
      const { body } = await log(world, `limit=100&order=${order}`)
      const newestFirst = [
        ...Array.from({ length: 6 }, () => ['member.role_changed', 'api_key.minted']).flat(),
        'api_key.minted',
        'project.created',
      ]
      expect(body.data.map(({ action }) => action)).toEqual(order === 'asc' ? newestFirst.toReversed() : newestFirst)
      const paged: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof log>> = await log(
          world,
          `limit=3&order=${order}${cursor && `&cursor=${cursor}`}`,
        )
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
    },
  )

  it.each([
    ['desc', MINUTE],
    ['asc', -MINUTE],
  ])('stops where either part has looked at as much as a page may, and goes on from there: %s', async (order, from) => {
    const world = await freshKey()
    const at = Date.now() + from
    await insertEntries(DIRECTORY, world, MAX_ENTRIES_LOOKED_AT, at)
    const found: string[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page: Awaited<ReturnType<typeof log>> = await log(
        world,
        `action=project.created&order=${order}${cursor && `&cursor=${cursor}`}`,
      )
      found.push(...page.body.data.map(({ action }) => action))
      expect(page.body.truncated).toBe(page.body.next_cursor !== null)
      cursor = page.body.next_cursor
    }
    expect([found, pages]).toEqual([['project.created'], 2])
  })

  it('says on its first page how many entries both parts have', async () => {
    const world = await freshKey()
    for (const database of [DIRECTORY, STORE]) await insertEntries(database, world, 30, Date.now() + MINUTE)
    const path = `/console/p/${world.project}/platform/settings/audit-log`
    const page = async (query: string) => {
      const { text } = await visit(path + query, world.owner.token)
      const [, total] = /<p class="quiet total">([^<]+)</.exec(text) ?? []
      return { total, next: /href="(\?cursor=[^"]+)" rel="next"/.exec(text)?.[1] ?? '' }
    }
    const { total, next } = await page('')
    expect([total, (await page(next)).total]).toEqual(['62 changes', undefined])
    const totals = []
    for (const query of ['?action=other', '?action=project.*', '?action=member.*'])
      totals.push((await page(query)).total)
    expect(totals).toEqual(['60 changes', '1 change', undefined])
    await insertEntries(DIRECTORY, world, 1_000, Date.now() + MINUTE)
    expect((await page('')).total).toBe('More than 1,000 changes')
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
