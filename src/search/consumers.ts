import { and, eq, type SQL, sql } from 'drizzle-orm'
import { features, plans } from '../catalog/schema'
import { consumersNamed } from '../consumers/names'
import { EXTERNAL } from '../consumers/ref'
import { consumerIds, consumers, devices, grants } from '../consumers/schema'
import { firstIdOf } from '../consumers/title'
import type { Db } from '../db/client'
import { type Look, union } from '../db/names'
import { begins } from '../db/sql'
import { featureOfGrant, grantName, planOfGrant } from '../entitlements/grant-name'
import { MOST_OF_A_TYPE } from './limits'
import { byId, byText, foundFields, type SearchSource } from './source'

/** The external id that is shown for a consumer. */
const shownId = sql<string | null>`${EXTERNAL} || ${firstIdOf(sql`${consumers.project_id}`, consumers.id)}`

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

/** Consumers by looks for the words of a name. */
const named = (db: Db, project: string, looks: readonly Look[]) =>
  matching(db, project, sql`${consumers.id} IN ${union(looks)}`, sql`${consumers.name}`)

const consumer = { type: 'consumer', scope: 'consumers:read' } as const

/** Consumers by their id, and by the first letters of an external id, an email address or a name; by the words of a name in any order, each by its first letters. */
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
      byText(asked, () => named(db, project, consumersNamed(project, asked.text, MOST_OF_A_TYPE).slice(0, 1))),
  },
  {
    ...consumer,
    find: (db, project, asked) =>
      byText(asked, () => named(db, project, consumersNamed(project, asked.text, MOST_OF_A_TYPE).slice(1))),
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
