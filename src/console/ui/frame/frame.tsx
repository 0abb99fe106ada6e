import type { PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../../page'
import { type ProjectPaths, projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { Post } from '../controls'
import { type AroundProjects, Mode, ProjectsMenu } from './projects'
import { groupsFor, type SectionName } from './sections'
import { PipelineBadge } from './status'

type FrameProps = PropsWithChildren<{
  c: Visit
  user: SignedIn
  around: AroundProjects
  section: SectionName | undefined
}>

/**
 * The sidebar beside every page of a signed-in user. On a narrow screen it is a drawer, which a button in the bar at the
 * top opens: a popover, so it works without a script, and Escape or a click beside it closes it.
 */
export function Frame({ c, user, around, section, children }: FrameProps) {
  const paths = user.project_id === null ? null : projectPaths(user.project_id)
  return (
    <div class="frame">
      <header class="bar">
        <button type="button" popovertarget="side" aria-label="Menu">
          <span aria-hidden="true">☰</span>
        </button>
        <a class="brand" href={paths?.start ?? '/console'}>
          {around.current?.name ?? 'Platform API'}
        </a>
        <Mode modes={around.modes} />
        {paths && <Bell open={around.openNotices} to={paths.notices} />}
      </header>
      <nav id="side" class="side" aria-label="Main" popover="auto">
        <a class="brand" href="/console">
          Platform API
        </a>
        <div class="where">
          <ProjectsMenu around={around} section={section} />
          <Mode modes={around.modes} />
          {paths && <Bell open={around.openNotices} to={paths.notices} />}
        </div>
        {paths && <SearchLink to={paths.search} />}
        {paths ? <Sections user={user} paths={paths} section={section} /> : <Outside section={section} />}
        <div class="foot">
          {paths && user.scopes.includes('billing:read') && (
            <PipelineBadge of={null} at={paths.status} health={paths.health} />
          )}
          <Account c={c} user={user} />
        </div>
      </nav>
      {children}
    </div>
  )
}

/** Opens the search: as a page, or in a dialog, which its shortcuts open too. */
function SearchLink({ to }: { to: string }) {
  return (
    <a class="find" href={to} data-find aria-keyshortcuts="/ Control+K Meta+K">
      Search{' '}
      <span class="shortcut" aria-hidden="true">
        /
      </span>
    </a>
  )
}

/** The open notices of the project, on each of its pages; nothing if there are none. */
function Bell({ open, to }: { open: number; to: string }) {
  if (open === 0) return null
  return (
    <a class="badge warn" href={to} title="Open notices">
      <span aria-hidden="true">🔔</span> <span class="unseen">Open notices:</span> {open}
    </a>
  )
}

function Sections({ user, paths, section }: { user: SignedIn; paths: ProjectPaths; section: SectionName | undefined }) {
  return (
    <>
      {groupsFor(user).map(({ label, sections }, n) => (
        <>
          {label && <p id={`group-${n}`}>{label}</p>}
          <ul aria-labelledby={label ? `group-${n}` : undefined}>
            {sections.map(({ name, label, path }) => (
              <li>
                <a href={path(paths)} aria-current={name === section ? 'page' : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </>
  )
}

/** The pages that belong to no project. */
function Outside({ section }: { section: SectionName | undefined }) {
  return (
    <ul>
      <li>
        <a href="/console" aria-current={section === 'projects' ? 'page' : undefined}>
          Projects
        </a>
      </li>
      <li>
        <a href="/console/sessions" aria-current={section === 'sessions' ? 'page' : undefined}>
          Sessions
        </a>
      </li>
      <li>
        <a href="/console/passkeys" aria-current={section === 'passkeys' ? 'page' : undefined}>
          Passkeys
        </a>
      </li>
      <li>
        <a href="/console/reference" aria-current={section === 'reference' ? 'page' : undefined}>
          API reference
        </a>
      </li>
    </ul>
  )
}

function Account({ c, user }: { c: Visit; user: SignedIn }) {
  return (
    <details class="menu account">
      <summary aria-label={`Account: ${user.email}`}>
        <span class="cut">{user.email}</span>
      </summary>
      <ul>
        <li>
          <a href="/console/sessions">Sessions</a>
        </li>
        <li>
          <a href="/console/passkeys">Passkeys</a>
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
  )
}
