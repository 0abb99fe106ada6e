import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { consumerIds } from './schema'

const i = alias(consumerIds, 'first_ids')

/** The first external id of a consumer, as an expression; NULL if it has none. */
export function firstIdOf(project: SQL, consumer: SQL | Column): SQL<string | null> {
  return sql`(SELECT ${i.external_id} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
    WHERE ${i.project_id} = ${project} AND ${i.consumer_id} = ${consumer} ORDER BY ${i.position} LIMIT 1)`
}

/** What the console calls a consumer, as an expression: its name, its email address, or its first external id; NULL without these. */
export function consumerTitle(project: SQL, of: Record<'id' | 'name' | 'email', Column>): SQL<string | null> {
  return sql`coalesce(${of.name}, ${of.email}, ${firstIdOf(project, of.id)})`
}
