import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Directory } from '../../db/client'
import { holdersOfEmailDomain } from '../../domains/domain'
import { ssoConnectionDomains } from '../../identities/schema'
import { findConnection } from '../connections/store'

const d = alias(ssoConnectionDomains, 'd')

/** Reads the connection for customers that has an email domain which the project holds now. */
export function findByEmailDomain(directory: Directory, projectId: string, hostname: string) {
  const id = sql`(SELECT ${d.connection_id} FROM ${holdersOfEmailDomain(hostname)} h
    CROSS JOIN ${ssoConnectionDomains} ${d} ON ${d.project_id} = h.project_id AND ${d.domain_id} = h.id
    WHERE h.project_id = ${projectId} AND ${d.audience} = 'customers')`
  return findConnection(directory, projectId, id)
}
