import { type Column, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { json } from '../db/sql'
import { projects } from './schema'
import type { Settings } from './settings'

const p = alias(projects, 'p')

/** The settings of a row's project as they are stored, as a column of a statement: one row read. */
export function settingsFor(projectId: Column) {
  return json<Partial<Settings> | null>(
    sql`(SELECT ${p.settings} FROM ${projects} ${p} WHERE ${p.id} = ${projectId})`,
  ).as('settings')
}
