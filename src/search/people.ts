import { and, desc, eq, isNull, ne, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import type { Directory } from '../db/client'
import { domains } from '../domains/schema'
import { ssoConnections } from '../identities/schema'
import { reaches, type Viewer } from '../tenancy/reach'
import { invitations, members, projects } from '../tenancy/schema'
import { MOST_OF_A_TYPE } from './limits'
import { byBoth, contains, NOTHING, type Source } from './source'
import type { Typed } from './typed'

// Written out, so that the index of the pending ones is used.
const isPending = sql`${invitations.state} = 'pending'`

/** What the directory knows of a project. */
export const DIRECTORY_SOURCES: Source<Directory>[] = [
  {
    type: 'member',
    scope: 'members:read',
    find: (directory, project, typed) =>
      byBoth(typed, 'usr', (isId) =>
        directory
          .select({ id: users.id, title: users.email, detail: sql<string>`${members.role}`, vendor: NOTHING })
          .from(members)
          .innerJoin(users, eq(users.id, members.user_id))
          .where(
            and(eq(members.project_id, project), isId ? eq(members.user_id, typed.text) : contains(users.email, typed)),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'invitation',
    scope: 'members:read',
    find: (directory, project, typed) =>
      byBoth(typed, 'inv', (isId) =>
        directory
          .select({
            id: invitations.id,
            title: invitations.email,
            detail: sql<string>`${invitations.state}`,
            vendor: NOTHING,
          })
          .from(invitations)
          .where(
            and(
              eq(invitations.project_id, project),
              isId ? eq(invitations.id, typed.text) : and(isPending, contains(invitations.email, typed)),
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'domain',
    scope: 'domains:read',
    find: (directory, project, typed) =>
      byBoth(typed, 'dom', (isId) =>
        directory
          .select({ id: domains.id, title: domains.hostname, detail: sql<string>`${domains.state}`, vendor: NOTHING })
          .from(domains)
          .where(
            and(
              eq(domains.project_id, project),
              ne(domains.state, 'released'),
              isId ? eq(domains.id, typed.text) : contains(domains.hostname, typed),
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'sso_connection',
    scope: 'sso:read',
    find: (directory, project, typed) =>
      byBoth(typed, 'sso', (isId) =>
        directory
          .select({ id: ssoConnections.id, title: ssoConnections.name, detail: ssoConnections.issuer, vendor: NOTHING })
          .from(ssoConnections)
          .where(
            and(
              eq(ssoConnections.project_id, project),
              isNull(ssoConnections.deleted_at),
              isId
                ? eq(ssoConnections.id, typed.text)
                : sql`(${contains(ssoConnections.name, typed)} OR ${contains(ssoConnections.issuer, typed)})`,
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
]

/** The user's projects, newest first. Null if the text can name none. */
export function projectsNamed(directory: Directory, { user_id, sso }: Viewer, typed: Typed) {
  return byBoth(typed, 'prj', (isId) =>
    directory
      .select({ id: projects.id, title: projects.name, detail: sql<string>`${members.role}`, vendor: NOTHING })
      .from(members)
      .innerJoin(projects, eq(projects.id, members.project_id))
      .where(
        and(
          eq(members.user_id, user_id),
          reaches(sso, members.project_id),
          isNull(projects.deleted_at),
          isId ? eq(projects.id, typed.text) : contains(projects.name, typed),
        ),
      )
      .orderBy(desc(projects.id))
      .limit(MOST_OF_A_TYPE),
  )
}
