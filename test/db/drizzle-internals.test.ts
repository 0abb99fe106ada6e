import { eq, sql } from 'drizzle-orm'
import { alias, integer, sqliteTable, text, unionAll } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { batch, openDb, raw, run } from '../../src/db/client'
import { builder, decoded, type Prepared, refuseTwins, rowsOf } from '../../src/db/drizzle-internals'
import { DIRECTORY } from '../harness'

/*
 * What the project takes from drizzle-orm beyond its documentation (src/db/drizzle-internals.ts). Each name says what stops
 * working if an upgrade changes it.
 */

const things = sqliteTable('things', {
  id: text().primaryKey(),
  on: integer({ mode: 'boolean' }).notNull(),
  list: text({ mode: 'json' }).$type<string[]>(),
})
const other = alias(things, 'other')
const stored = { id: 'a', on: 1, list: '["x"]' }
const read = { id: 'a', on: true, list: ['x'] }
const result = (...results: object[]) => ({ results, success: true, meta: {} }) as unknown as D1Result
const selecting = builder.select().from(things).where(eq(things.id, 'a'))

describe('a prepared statement', () => {
  const BUILDERS: Record<string, { prepare(): Prepared }> = {
    select: selecting,
    union: unionAll(selecting, builder.select().from(things).where(eq(things.id, 'b'))),
    insert: builder.insert(things).values(read).returning(),
    update: builder.update(things).set({ on: true }).where(eq(things.id, 'a')).returning(),
    delete: builder.delete(things).where(eq(things.id, 'a')).returning(),
  }

  it.each(Object.entries(BUILDERS))(
    'of %s has its text and values in getQuery(): else nothing can be sent',
    (_, one) => {
      const { sql: sent, params } = one.prepare().getQuery()
      expect(sent).toContain('"things"')
      expect(params).toContain('a')
    },
  )

  it.each(Object.entries(BUILDERS))('of %s reads a row by name in mapResult(): else every row is wrong', (_, one) => {
    expect(rowsOf(one.prepare(), result(stored))).toEqual([read])
  })

  it('nests what a join selects: else rows of two tables fall apart', () => {
    const joined = builder.select({ one: things, two: { id: sql<string>`x`.as('two_id') } }).from(things)
    expect(rowsOf(joined.prepare(), result({ ...stored, two_id: 'b' }))).toEqual([{ one: read, two: { id: 'b' } }])
  })

  it('gives the result of a write without RETURNING unchanged', () => {
    const written = result()
    expect(rowsOf(builder.delete(things).prepare(), written)).toBe(written)
  })

  it('lists what it selects in `fields`: else of two columns with one name the first is lost without a word', () => {
    const twins = builder.select({ a: things.id, b: other.id }).from(things).innerJoin(other, eq(other.id, things.id))
    expect(() => refuseTwins(twins.prepare())).toThrow('select one of the columns "id" under another name')
    const aliased = builder.select({ a: sql`1`.as('n'), b: sql`2`.as('n') }).from(things)
    expect(() => refuseTwins(aliased.prepare())).toThrow('"n"')
    expect(() => refuseTwins(selecting.prepare())).not.toThrow()
  })
})

describe('an expression', () => {
  it('keeps what mapWith gave it in `decoder`: else raw() gives JSON as a text and booleans as numbers', () => {
    expect(decoded(sql`x`.mapWith(Boolean), 1)).toBe(true)
    expect(decoded(sql`x`.mapWith(things.list), '["x"]')).toEqual(['x'])
    expect(decoded(sql`x`, '["x"]')).toBe('["x"]')
    expect(decoded(things.on, 0)).toBe(false)
    expect(decoded(things.list, null)).toBeNull()
  })
})

describe('a database', () => {
  it('takes its builders from one object, which no binding of a request reaches: else each request builds its own', async () => {
    const db = openDb(DIRECTORY)
    expect(Object.getPrototypeOf(db)).toBe(builder)
    expect(
      await run(
        db,
        raw(db, { n: sql<number>`1` }, (fields) => sql`SELECT ${fields}`),
      ),
    ).toEqual([{ n: 1 }])
    await expect(selecting).rejects.toThrow() // awaited by itself, a builder has nothing to send it with
  })

  it('sends values in raw SQL beside builders in one batch, which db.batch cannot (drizzle-orm#2277)', async () => {
    const db = openDb(DIRECTORY)
    const one = raw(db, { v: sql<string>`${'a value'}` }, (fields) => sql`SELECT ${fields}`)
    expect(await batch(db, { one, two: one })).toEqual({ one: [{ v: 'a value' }], two: [{ v: 'a value' }] })
  })
})
