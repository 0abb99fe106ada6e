import type { Purpose } from '../../src/domains/schema'
import { newId } from '../../src/lib/ids'
import { DAY } from '../../src/lib/time'
import { DIRECTORY, newHost } from '../harness'

/** A pending domain that is not due, written to the database. @returns its id */
export async function insertDomain(project: string, purpose: Purpose = 'surface'): Promise<string> {
  const now = Date.now()
  const id = newId('dom', now)
  await DIRECTORY.prepare(
    `INSERT INTO domains (project_id, id, hostname, purpose, state, state_since, token, next_check_at, created_by, created_at, version)
     VALUES (?, ?, ?, ?, 'pending', ?, 'none', ?, 'usr_nobody', ?, 1)`,
  )
    .bind(project, id, newHost('plain.dev'), purpose, now, now + DAY, now)
    .run()
  return id
}

/** Makes a domain fail. */
export async function failDomain(id: string): Promise<void> {
  await DIRECTORY.prepare(
    "UPDATE domains SET state = 'failed', next_check_at = NULL, checked_at = NULL, grace_until = NULL WHERE id = ?",
  )
    .bind(id)
    .run()
}

/** Makes the team of a project sign in through a connection that needs a domain. */
export async function enforceDomain(project: string, domain: string) {
  await DIRECTORY.batch([
    DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE project_id = ?').bind(project),
    DIRECTORY.prepare(
      "INSERT INTO sso_connection_domains (project_id, domain_id, audience, connection_id) VALUES (?, ?, 'team', 'sso_1')",
    ).bind(project, domain),
    DIRECTORY.prepare("UPDATE projects SET sso_enforced_by = 'sso_1' WHERE id = ?").bind(project),
  ])
}
