import { and, desc, eq, isNull, ne, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import type { Directory } from '../db/client'
import { domains } from '../domains/schema'
import { ssoConnections } from '../identities/schema'
import { reaches, type Viewer } from '../tenancy/reach'
import { invitations, members, projects } from '../tenancy/schema'
import { MOST_OF_A_TYPE } from './limits'
import { byBoth, contains, foundFields, inTable, type SearchSource } from './source'
import type { SearchText } from './text'

/** What the directory knows of a project. */
export const DIRECTORY_SOURCES: SearchSource<Directory>[] = [
  {
    type: 'member',
    scope: 'members:read',
    find: (directory, project, text) =>
      byBoth(text, 'usr', (isId) =>
        directory
          .select(foundFields({ id: users.id, title: users.email, detail: members.role }))
          .from(members)
          .innerJoin(users, eq(users.id, members.user_id))
          .where(
            and(eq(members.project_id, project), isId ? eq(members.user_id, text.text) : contains(users.email, text)),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  inTable('invitation', 'members:read', {
    table: invitations,
    project: invitations.project_id,
    prefix: 'inv',
    id: invitations.id,
    title: invitations.email,
    detail: invitations.state,
    names: [invitations.email],
    // Written out, so that the index of the pending ones is used.
    onlyByName: sql`${invitations.state} = 'pending'`,
  }),
  inTable('domain', 'domains:read', {
    table: domains,
    project: domains.project_id,
    prefix: 'dom',
    id: domains.id,
    title: domains.hostname,
    detail: domains.state,
    names: [domains.hostname],
    only: ne(domains.state, 'released'),
  }),
  inTable('sso_connection', 'sso:read', {
    table: ssoConnections,
    project: ssoConnections.project_id,
    prefix: 'sso',
    id: ssoConnections.id,
    title: ssoConnections.name,
    detail: ssoConnections.issuer,
    names: [ssoConnections.name, ssoConnections.issuer],
    only: isNull(ssoConnections.deleted_at),
  }),
]

/** The user's projects, newest first. Null if the text cannot identify any. */
export function projectsNamed(directory: Directory, { user_id, sso }: Viewer, text: SearchText) {
  return byBoth(text, 'prj', (isId) =>
    directory
      .select(foundFields({ id: projects.id, title: projects.name, detail: members.role }))
      .from(members)
      .innerJoin(projects, eq(projects.id, members.project_id))
      .where(
        and(
          eq(members.user_id, user_id),
          reaches(sso, members.project_id),
          isNull(projects.deleted_at),
          isId ? eq(projects.id, text.text) : contains(projects.name, text),
        ),
      )
      .orderBy(desc(projects.id))
      .limit(MOST_OF_A_TYPE),
  )
}
