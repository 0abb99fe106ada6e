import type { Context } from 'hono'
import { run } from '../../db/client'
import type { HttpEnv } from '../../http/context'
import { findMemberProject, listMemberProjects } from '../../projects/directory-store'
import { projectPaths } from '../paths'
import type { User } from '../session'
import { Post } from './controls'
import { type Section, Tabs } from './tabs'

/** The number of projects in the project menu. */
const SWITCHER = 8

type Known = { id: string; name: string }

/** Projects for the project menu: the current one first, then the newest others. */
export async function projectsFor(c: Context<HttpEnv>, user: User): Promise<Known[]> {
  const { directory } = c.get('rt')
  const all: Known[] = await run(directory, listMemberProjects(directory, user.user_id, null, SWITCHER + 1))
  const { project_id } = user
  if (project_id === null) return all
  const known = all.find(({ id }) => id === project_id)
  const current = known ?? (await run(directory, findMemberProject(directory, project_id, user.user_id)))[0]
  return [...(current ? [current] : []), ...all.filter(({ id }) => id !== project_id)]
}

export function Header(props: { c: Context<HttpEnv>; user: User; projects: Known[]; section?: Section | undefined }) {
  const { c, user, projects, section } = props
  const current = user.project_id === null ? null : projects[0]
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href="/console">
          Platform API
        </a>
        <details class="menu">
          <summary>{current?.name ?? 'Projects'}</summary>
          <ul>
            {projects.slice(0, SWITCHER).map(({ id, name }) => (
              <li>
                <a href={projectPaths(id).start} aria-current={id === current?.id ? 'true' : undefined}>
                  {name}
                </a>
              </li>
            ))}
            <li class="last">
              <a href="/console">All projects</a>
            </li>
            <li>
              <a href="/console/projects/new">New project</a>
            </li>
          </ul>
        </details>
        <details class="menu account">
          <summary aria-label={`Account: ${user.email}`}>{user.email}</summary>
          <ul>
            <li>
              <a href="/console/sessions">Sessions</a>
            </li>
            <li class="last">
              <Post c={c} to="/console/sign-out">
                <button type="submit" class="plain">
                  Sign out
                </button>
              </Post>
            </li>
          </ul>
        </details>
      </div>
      <Tabs user={user} section={section} />
    </header>
  )
}
