import type { PropsWithChildren } from 'hono/jsx'
import { closedGroups, type Mode as ModeName, modeIn, type Theme, type Times, themeIn, timesIn } from '../../browser'
import type { Visit } from '../../page'
import { type ProjectPaths, projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { Post } from '../controls'
import { SECTION_DOCS } from './docs'
import { DOCS_ICON, SEARCH_ICON, SECTION_ICONS } from './icons'
import { type AroundProjects, Mode, ProjectsMenu } from './projects'
import { groupsFor, type SectionName } from './sections'
import { isCounted, lastStanding, PipelineBadge, SectionCount } from './status'

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
  const chosen = user.project_id === null ? 'all' : modeIn(c, user.project_id)
  const switches = around.modes.length > 1 || chosen !== 'all'
  return (
    <div class="frame">
      <header class="bar">
        <button type="button" popovertarget="side" aria-label="Menu">
          <span aria-hidden="true">☰</span>
        </button>
        <a class="brand" href={paths?.start ?? '/console'}>
          {around.current?.name ?? 'Platform API'}
        </a>
        {paths && (
          <a class="seek" href={paths.search} data-find data-icon={SEARCH_ICON}>
            <span class="unseen">Search</span>
          </a>
        )}
        <Mode modes={around.modes} chosen={chosen} />
        {paths && <Bell open={around.openNotices} to={paths.notices} />}
      </header>
      <nav id="side" class="side" aria-label="Main" popover="auto">
        <a class="brand" href="/console">
          Platform API
        </a>
        <div class="where">
          <ProjectsMenu around={around} section={section} />
          {!switches && <Mode modes={around.modes} chosen={chosen} />}
          {paths && <Bell open={around.openNotices} to={paths.notices} />}
        </div>
        {switches && <ModeSwitch c={c} project={user.project_id} chosen={chosen} />}
        {paths && <SearchLink to={paths.search} />}
        <div class="sections">
          {paths ? <Sections c={c} user={user} paths={paths} section={section} /> : <Outside section={section} />}
        </div>
        <div class="foot">
          <div class="about">
            {paths && user.scopes.includes('billing:read') && (
              <PipelineBadge of={lastStanding(c, user)?.status ?? null} at={paths.status} health={paths.health} />
            )}
            <a class="docs" href={section ? SECTION_DOCS[section] : '/docs'} data-icon={DOCS_ICON}>
              Docs
            </a>
          </div>
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
    <a class="badge warn" href={to} title="Open notices" data-icon={SECTION_ICONS.notices}>
      <span class="unseen">Open notices:</span> {open}
    </a>
  )
}

type SectionsProps = { c: Visit; user: SignedIn; paths: ProjectPaths; section: SectionName | undefined }

function Sections({ c, user, paths, section }: SectionsProps) {
  const closed = closedGroups(c)
  const standing = lastStanding(c, user)
  return (
    <>
      {groupsFor(user).map(({ label, sections }) => {
        const list = (
          <ul aria-label={label ?? undefined}>
            {sections.map(({ name, label, path }) => (
              <SectionLink to={path(paths)} name={name} section={section}>
                {label}
                {isCounted(name) && <SectionCount section={name} of={standing} />}
              </SectionLink>
            ))}
          </ul>
        )
        if (label === null) return list
        const isOpen = !closed.includes(label) || sections.some(({ name }) => name === section)
        return (
          <details class="group" data-group={label} open={isOpen}>
            <summary>{label}</summary>
            {list}
          </details>
        )
      })}
    </>
  )
}

type SectionLinkProps = PropsWithChildren<{ to: string; name: SectionName; section: SectionName | undefined }>

function SectionLink({ to, name, section, children }: SectionLinkProps) {
  return (
    <li>
      <a href={to} data-icon={SECTION_ICONS[name]} aria-current={name === section ? 'page' : undefined}>
        {children}
      </a>
    </li>
  )
}

/** The pages that belong to no project. */
const OUTSIDE = [
  ['/console', 'projects', 'Projects'],
  ['/console/sessions', 'sessions', 'Sessions and account'],
  ['/console/passkeys', 'passkeys', 'Passkeys and recovery codes'],
  ['/console/reference', 'reference', 'API reference'],
] as const

function Outside({ section }: { section: SectionName | undefined }) {
  return (
    <ul>
      {OUTSIDE.map(([to, name, label]) => (
        <SectionLink to={to} name={name} section={section}>
          {label}
        </SectionLink>
      ))}
    </ul>
  )
}

const THEME_LABELS: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' }
const TIMES_LABELS: Record<Times, string> = { relative: 'Relative', utc: 'UTC', local: 'Local' }

const MODE_LABELS: Record<ModeName, string> = { all: 'All', live: 'Live', test: 'Test' }

type ChoiceProps = { name: 'theme' | 'times' | 'mode'; label: string; options: Record<string, string>; chosen: string }

/** The buttons for what is kept in this browser, for a form with the session's token. */
function Choice({ name, label, options, chosen }: ChoiceProps) {
  return (
    <fieldset class="picks" aria-label={label}>
      {Object.entries(options).map(([value, text]) => (
        <button
          type="submit"
          formaction={`/console/${name}`}
          name={name}
          value={value}
          aria-pressed={value === chosen ? 'true' : 'false'}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}

/** Chooses which mode the lists of the project show. */
function ModeSwitch({ c, project, chosen }: { c: Visit; project: string | null; chosen: ModeName }) {
  return (
    <Post c={c} to="/console/mode" class="modes">
      <input type="hidden" name="project" value={project ?? ''} />
      <Choice name="mode" label="Mode of the lists" options={MODE_LABELS} chosen={chosen} />
    </Post>
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
          <a href="/console/sessions">Sessions and account</a>
        </li>
        <li>
          <a href="/console/passkeys">Passkeys and recovery codes</a>
        </li>
        <li class="last" id="account">
          <Post c={c} to="/console/sign-out">
            <Choice name="theme" label="Theme" options={THEME_LABELS} chosen={themeIn(c)} />
            <Choice name="times" label="Times" options={TIMES_LABELS} chosen={timesIn(c)} />
            <button type="submit" class="plain">
              Sign out
            </button>
          </Post>
        </li>
      </ul>
    </details>
  )
}
