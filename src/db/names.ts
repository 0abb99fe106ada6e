import { type Column, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type NameWalk, nameWalks } from '../lib/names'
import { MOST_NAMES_LOOKED_AT } from './limits'
import { begins } from './sql'

/** A table of the keys of names. `of`: whose name it is, by the names that the columns get. */
type Names = { table: SQLiteTable & Record<'project_id' | 'name', Column>; of: Record<string, Column> }

/** A statement that looks at a limited number of rows, and the condition that there are more. */
export type Look = { some: SQL; more: SQL }

/** @param has what must hold for each row that is looked at */
export function limitedLook(columns: SQL, all: SQL, limit: number, has: SQL = sql`1`): Look {
  return {
    some: sql`SELECT ${columns} FROM (SELECT * FROM (${all}) LIMIT ${limit}) WHERE ${has}`,
    more: sql`EXISTS (SELECT 1 FROM (${all}) LIMIT 1 OFFSET ${limit})`,
  }
}

/** What several looks find, each once, as a subquery. D1 takes five terms in a UNION. */
export function union(looks: readonly Look[]): SQL {
  const each = looks.map(({ some }) => some)
  return sql`(${sql.join(each, sql` UNION `)})`
}

/**
 * How the names are looked for that have words which begin with those of a text, in any order: up to four looks. The first one looks for
 * the text as it is.
 *
 * @param most owners of names that begin with all of the text
 */
export function looksFor(names: Names, projectId: string, text: string, most: number): Look[] {
  return nameWalks(text).map((walk) => look(names, projectId, walk, most))
}

function look({ table, of }: Names, projectId: string, { begins: text, words }: NameWalk, most: number): Look {
  const aliased = Object.entries(of).map(([as, column]) => sql`${column} AS ${sql.identifier(as)}`)
  const owner = sql.join(aliased, sql`, `)
  const columns = sql.join(
    Object.keys(of).map((as) => sql.identifier(as)),
    sql`, `,
  )
  const found = sql`FROM ${table} WHERE ${table.project_id} = ${projectId} AND ${begins(table.name, text)} ORDER BY ${table.name}`
  // Each owner once.
  if (words.length === 0) return limitedLook(columns, sql`SELECT DISTINCT ${owner} ${found}`, most)
  const all = sql`SELECT ${owner}, ${table.name} AS name ${found}`
  return limitedLook(columns, all, MOST_NAMES_LOOKED_AT, hasAll(words))
}

/** Words that are a parameter each: D1 takes a hundred in a statement, and counts what it reads of a list as rows. */
const FEW_WORDS = 2

/** Whether a name has words that begin with each of these. */
function hasAll(words: readonly string[]): SQL {
  const begun = words.map((word) => ` ${word}`)
  if (words.length > FEW_WORDS) {
    return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(begun)}) w WHERE instr(' ' || name, w.value) = 0)`
  }
  return sql.join(
    begun.map((word) => sql`instr(' ' || name, ${word}) > 0`),
    sql` AND `,
  )
}
