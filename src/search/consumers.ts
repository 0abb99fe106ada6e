import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { features, plans } from '../catalog/schema'
import { EXTERNAL } from '../consumers/ref'
import { consumerIds, consumers, devices, grants } from '../consumers/schema'
import { firstIdOf } from '../consumers/title'
import type { Db } from '../db/client'
import { begins } from '../db/sql'
import { featureOfGrant, grantName, planOfGrant } from '../entitlements/grant-name'
import { MOST_NAMES_LOOKED_AT, MOST_OF_A_TYPE } from './limits'
import { byId, byText, foundFields, type SearchSource } from './source'

/** The external id that is shown for a consumer. */
const shownId = sql<string | null>`${EXTERNAL} || ${firstIdOf(sql`${consumers.project_id}`, consumers.id)}`
/** What the index `consumers_name` has, of consumers with a name: a search must say that it wants no others. */
const lowerName = sql`lower(${consumers.name})`

const title = sql`coalesce(${consumers.name}, ${consumers.email}, ${shownId}, ${consumers.id})`

const fields = foundFields({
  id: consumers.id,
  title,
  detail: sql`coalesce(iif(${consumers.name} IS NULL, NULL, ${consumers.email}), ${shownId})`,
})

function matching(db: Db, project: string, condition: SQL | undefined, order: SQL) {
  return db
    .select(fields)
    .from(consumers)
    .where(and(eq(consumers.project_id, project), condition))
    .orderBy(order)
    .limit(MOST_OF_A_TYPE)
}

/**
 * Consumers whose names have all these words, among the first so many whose names begin with the last word, and whose last names begin with the
 * first or the last one: so words can be in another order, and words between them can be left out.
 */
function withWords(db: Db, project: string, words: readonly string[]) {
  const [first = '', last = ''] = [words[0], words.at(-1)]
  const some = (column: SQL, isThere: SQL, word: string) => sql`SELECT * FROM (SELECT ${consumers.id} FROM ${consumers}
    WHERE ${consumers.project_id} = ${project} AND ${isThere} AND ${begins(column, word)}
    ORDER BY ${column} LIMIT ${MOST_NAMES_LOOKED_AT})`
  const lastName = sql`${consumers.last_name}`
  const all = [
    some(lowerName, isNotNull(consumers.name), last),
    ...[first, last].map((word) => some(lastName, isNotNull(consumers.last_name), word)),
  ]
  const isOne = sql`${consumers.id} IN (${sql.join(all, sql` UNION ALL `)})`
  // One parameter for all words: D1 takes a hundred in a statement.
  const hasAll = sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(words)}) w WHERE instr(${lowerName}, w.value) = 0)`
  return matching(db, project, and(isOne, hasAll), sql`${consumers.id}`)
}

const consumer = { type: 'consumer', scope: 'consumers:read' } as const

/** Consumers by their id, and by the first letters of an external id, an email address, a name or its last word; by the words of a name in any order. */
export const CONSUMER_SOURCES: SearchSource<Db>[] = [
  {
    ...consumer,
    find: (db, project, asked) =>
      byId(asked, 'csm', () => matching(db, project, eq(consumers.id, asked.text), sql`${consumers.id}`)),
  },
  {
    ...consumer,
    find: (db, project, asked) => {
      const text = asked.text.startsWith(EXTERNAL) ? asked.text.slice(EXTERNAL.length) : asked.text
      return db
        .select(fields)
        .from(consumerIds)
        .innerJoin(consumers, and(eq(consumers.project_id, project), eq(consumers.id, consumerIds.consumer_id)))
        .where(and(eq(consumerIds.project_id, project), begins(consumerIds.external_id, text)))
        .orderBy(consumerIds.external_id)
        .limit(MOST_OF_A_TYPE)
    },
  },
  {
    ...consumer,
    find: (db, project, asked) =>
      byText(asked, () =>
        matching(db, project, begins(consumers.email, asked.text.toLowerCase()), sql`${consumers.email}`),
      ),
  },
  {
    ...consumer,
    find: (db, project, asked) =>
      byText(asked, () =>
        matching(db, project, and(isNotNull(consumers.name), begins(lowerName, asked.lower)), lowerName),
      ),
  },
  {
    ...consumer,
    find: (db, project, asked) =>
      byText(asked, () => {
        const words = asked.lower.split(/\s+/)
        return words.length > 1
          ? withWords(db, project, words)
          : matching(db, project, begins(consumers.last_name, asked.lower), sql`${consumers.last_name}`)
      }),
  },
]

/** Grants by their id, with the name of their consumer. */
export const GRANTS: SearchSource<Db> = {
  type: 'grant',
  scope: 'entitlements:read',
  names: true,
  find: (db, project, asked, { names }) =>
    byId(asked, 'grt', () =>
      db
        .select(
          foundFields({ id: grants.id, title: grantName, detail: nameOfOwner(names), consumer: grants.consumer_id }),
        )
        .from(grants)
        .leftJoin(features, featureOfGrant)
        .leftJoin(plans, planOfGrant)
        .leftJoin(consumers, and(eq(consumers.project_id, project), eq(consumers.id, grants.consumer_id)))
        .where(and(eq(grants.project_id, project), eq(grants.id, asked.text)))
        .limit(1),
    ),
}

/** Devices by their id, with the name of their consumer. */
export const DEVICES: SearchSource<Db> = {
  ...consumer,
  type: 'device',
  find: (db, project, asked) =>
    byId(asked, 'dev', () =>
      db
        .select(
          foundFields({
            id: devices.id,
            title: sql`coalesce(${devices.name}, ${devices.model}, ${devices.platform})`,
            detail: title,
            consumer: devices.consumer_id,
          }),
        )
        .from(devices)
        .leftJoin(consumers, and(eq(consumers.project_id, project), eq(consumers.id, devices.consumer_id)))
        .where(and(eq(devices.project_id, project), eq(devices.id, asked.text)))
        .limit(1),
    ),
}

const nameOfOwner = (names: boolean) => (names ? title : sql`NULL`)
