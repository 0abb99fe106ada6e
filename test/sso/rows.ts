import { newId } from '../../src/lib/ids'
import { DAY } from '../../src/lib/time'
import { DIRECTORY } from '../harness'

/** A domain of a project, verified by default, written to the database. @returns its id */
export async function insertDomain(
  project: string,
  hostname: string,
  { state = 'verified', purpose = 'sso' }: { state?: string; purpose?: string } = {},
): Promise<string> {
  const id = newId('dom', Date.now())
  // Not due while the tests run: the cron would look it up.
  const next = ['failed', 'released'].includes(state) ? null : Date.now() + 30 * DAY
  await DIRECTORY.prepare(
    `INSERT INTO domains (project_id, id, hostname, purpose, state, state_since, token, next_check_at, grace_until, created_by,
      created_at, version) VALUES (?, ?, ?, ?, ?, 1, 'token', ?, ?, 'usr_1', 1, 1)`,
  )
    .bind(project, id, hostname, purpose, state, next, state === 'grace' ? 1 : null)
    .run()
  return id
}

/** Writes that a connection has passed a test since its last change. */
export async function passTest(id: string): Promise<void> {
  await DIRECTORY.prepare('UPDATE sso_connections SET tested_revision = revision, tested_at = 1 WHERE id = ?')
    .bind(id)
    .run()
}

/** An identity of a consumer, written to the database. @returns its id */
export async function insertIdentity(project: string, connection: string, consumer: string): Promise<string> {
  const id = newId('idn', Date.now())
  await DIRECTORY.prepare(
    `INSERT INTO sso_identities (id, project_id, connection_id, issuer, subject, consumer_id, created_at, last_used_at)
     VALUES (?, ?, ?, 'https://sample.plain.dev', ?, ?, 1, 1)`,
  )
    .bind(id, project, connection, id, consumer)
    .run()
  return id
}

/** A draft connection for the team, with an identity and a test run, written to the database. */
export async function insertConnection(project: string, fields: Record<string, string | number | null> = {}) {
  const [id, identity, test] = [newId('sso', Date.now()), newId('idn', Date.now()), newId('sit', Date.now())]
  const settings = {
    scopes: ['openid'],
    claims: { email: 'email', name: 'name' },
    default_role: null,
    create_consumers: false,
    redirect_uris: [],
    surface_id: null,
  }
  const row = {
    project_id: project,
    id,
    audience: 'team',
    name: 'sample',
    issuer: 'https://sample.plain.dev',
    client_id: 'rp',
    auth_method: 'none',
    settings: JSON.stringify(settings),
    state: 'draft',
    revision: 1,
    created_by: 'usr_1',
    created_at: 1,
    ...fields,
  }
  const names = Object.keys(row)
  await DIRECTORY.batch([
    DIRECTORY.prepare(
      `INSERT INTO sso_connections (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ).bind(...Object.values(row)),
    DIRECTORY.prepare(
      `INSERT INTO sso_identities (id, project_id, connection_id, issuer, subject, user_id, created_at, last_used_at)
       VALUES (?, ?, ?, 'https://sample.plain.dev', 'sample', 'usr_sample', 1, 1)`,
    ).bind(identity, project, id),
    DIRECTORY.prepare(
      `INSERT INTO sso_tests (project_id, connection_id, id, revision, state, created_at) VALUES (?, ?, ?, 1, 'waiting', 1)`,
    ).bind(project, id, test),
  ])
  return { id, identity, test }
}
