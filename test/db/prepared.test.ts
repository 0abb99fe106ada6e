import { and, eq, inArray, lt, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { batch, type Database, type Held, openDb, prepared, raw, run } from '../../src/db/client'
import { DIRECTORY } from '../harness'

/* Statements that are built once: they must be sent, and read, as those that are built for each call. */

const things = sqliteTable('prepared_things', {
  id: text().primaryKey(),
  on: integer({ mode: 'boolean' }).notNull(),
  list: text({ mode: 'json' }).$type<string[]>(),
})
const db = openDb<Database>(DIRECTORY)

type Asked = { before: Held<string> | null; limit: Held<number>; id?: Held<string> | undefined }
const listed = (db: Database, { before, limit, id }: Asked) =>
  db
    .select()
    .from(things)
    .where(
      and(
        eq(things.on, true),
        before === null ? undefined : lt(things.id, before),
        id === undefined ? undefined : eq(things.id, id),
      ),
    )
    .limit(limit)

describe('a statement that is built once', () => {
  it.each([
    { before: null, limit: 2 },
    { before: 'b', limit: 1 },
    { before: 'c', limit: 3, id: 'a' },
    { before: null, limit: 3, id: undefined },
    { before: '', limit: 0, id: '' },
  ])('is sent as one that is built for the call: %j', (given) => {
    const once = prepared(listed)
    const plain = listed(db, given as unknown as Asked)
      .prepare()
      .getQuery()
    for (const _ of 'twice') {
      const { sql: sent, params } = once(db, given).prepare().getQuery()
      expect({ sent, params }).toEqual({ sent: plain.sql, params: plain.params })
    }
  })

  it('is built once for each set of given values, whatever the values are', () => {
    let built = 0
    const once = prepared((db: Database, asked: Asked) => {
      built += 1
      return listed(db, asked)
    })
    for (const before of ['a', 'b', null, 'c', null]) once(db, { before, limit: 1 })
    expect(built).toBe(2)
    once(db, { before: null, limit: 1, id: 'a' })
    expect(built).toBe(3)
  })

  it('reads its rows as a builder would, in a batch with itself under other values', async () => {
    const create = 'CREATE TABLE IF NOT EXISTS prepared_things (id TEXT PRIMARY KEY, "on" INTEGER, list TEXT)'
    await DIRECTORY.batch([
      DIRECTORY.prepare(create),
      DIRECTORY.prepare(`INSERT INTO prepared_things VALUES ('a', 1, '["x"]'), ('b', 1, NULL)`),
    ])
    const once = prepared(listed)
    const [one, other] = [once(db, { before: 'c', limit: 5 }), once(db, { before: 'b', limit: 5 })]
    expect(await batch(db, { one, other })).toEqual({
      one: [
        { id: 'a', on: true, list: ['x'] },
        { id: 'b', on: true, list: null },
      ],
      other: [{ id: 'a', on: true, list: ['x'] }],
    })
    const inSql = prepared((db: Database, { id, list }: { id: Held<string>; list: Held<string> }) =>
      raw(
        db,
        { id: things.id, on: things.on },
        (fields) =>
          sql`SELECT ${fields} FROM ${things} WHERE ${eq(things.id, id)} AND ${inArray(things.id, sql`(SELECT value FROM json_each(${list}))`)}`,
      ),
    )
    expect(await run(db, inSql(db, { id: 'a', list: '["a","b"]' }))).toEqual([{ id: 'a', on: true }])
    expect(await run(db, inSql(db, { id: 'a', list: '["b"]' }))).toEqual([])
    await DIRECTORY.prepare('DROP TABLE prepared_things').run()
  })

  it('holds no value of a call: two callers have their own', () => {
    const once = prepared(listed)
    const first = once(db, { before: 'first', limit: 1 })
    const second = once(db, { before: 'second', limit: 1 })
    expect(first.prepare().getQuery().params).toContain('first')
    expect(second.prepare().getQuery().params).toContain('second')
  })
})
