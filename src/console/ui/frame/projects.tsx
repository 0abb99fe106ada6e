import { batch, run } from '../../../db/client'
import { type InGrace, listInGrace } from '../../../domains/domain'
import { besides } from '../../../http/read'
import { listModes } from '../../../inbox/connections/connection'
import { countOpenNotices } from '../../../notices/read'
import { findMemberProject, listOpenProjects } from '../../../projects/in-directory'
import { MAX_PROJECT_NAME } from '../../../projects/limits'
import type { Mode as ModeName } from '../../browser'
import type { Visit } from '../../page'
import type { SignedIn } from '../../session'
import { ModeBadge } from '../badge'
import { type SectionName, sectionIn } from './sections'

/** The number of projects in the project menu. */
export const PROJECTS_SHOWN = 8

type Known = { id: string; name: string }

/**
 * The current project, the newest others, whether there are more, and the modes of the current project's connections: none if its store does
 * not answer. `inGrace`: domains whose record is gone, for those who may read them.
 */
export type AroundProjects = {
  current: Known | null
  others: Known[]
  more: boolean
  modes: boolean[]
  inGrace: readonly InGrace[]
  /** Open notices of the current project. */
  openNotices: number
}

/** Reads what the frame shows of the user's projects: from the directory and the project's store, side by side. */
export async function projectsAround(c: Visit, user: SignedIn): Promise<AroundProjects> {
  const { directory } = c.get('rt')
  const { project_id, user_id } = user
  const newest = listOpenProjects(directory, user, { take: PROJECTS_SHOWN + 1 })
  if (project_id === null) {
    const all = await run(directory, newest)
    const others = all.slice(0, PROJECTS_SHOWN)
    return { current: null, others, more: all.length > PROJECTS_SHOWN, modes: [], inGrace: [], openNotices: 0 }
  }
  const { db } = c.get('rt')
  const ofStore = { modes: listModes(db, project_id), open: countOpenNotices(db, project_id) }
  const [{ all, here, inGrace }, inStore] = await Promise.all([
    batch(directory, {
      all: newest,
      here: findMemberProject(directory, project_id, user_id),
      inGrace: listInGrace(directory, project_id),
    }),
    besides(batch(db, ofStore)),
  ])
  const others = all.filter(({ id }) => id !== project_id).slice(0, PROJECTS_SHOWN - 1)
  const modes = (inStore?.modes ?? []).map(({ livemode }) => livemode)
  const openNotices = inStore?.open[0]?.n ?? 0
  return { current: here[0] ?? null, others, more: all.length > PROJECTS_SHOWN, modes, inGrace, openNotices }
}

type MenuProps = { around: AroundProjects; section: SectionName | undefined }

/** The project menu. Another project opens at the section of the current page. */
export function ProjectsMenu({ around: { current, others, more }, section }: MenuProps) {
  return (
    <details class="menu projects">
      <summary>
        <span class="cut">{current?.name ?? 'Projects'}</span>
      </summary>
      <div class="sheet">
        <form action="/console" method="get" data-finds>
          {more && <ProjectField section={section} current={current?.id} />}
          <div id={PROJECTS_FOUND} aria-live="polite">
            <ProjectLinks rows={[...(current ? [current] : []), ...others]} section={section} current={current?.id} />
          </div>
        </form>
        <ul>
          <li class="last">
            <a href="/console">All projects</a>
          </li>
          <li>
            <a href="/console/projects/new">New project</a>
          </li>
        </ul>
      </div>
    </details>
  )
}

/** The part of the menu that changes while somebody types a name. */
export const PROJECTS_FOUND = 'projects-found'

/** Finds a project by a part of its name. Without a script, Enter opens the list of those that were found. */
function ProjectField(of: { section: SectionName | undefined; current: string | undefined }) {
  const known = Object.entries(of).filter((one): one is [string, string] => one[1] !== undefined)
  return (
    <input
      type="search"
      name="q"
      aria-label="Find a project"
      aria-controls={PROJECTS_FOUND}
      placeholder="Find a project"
      maxlength={MAX_PROJECT_NAME}
      autocomplete="off"
      spellcheck={false}
      hx-get={`/console?${new URLSearchParams(known)}`}
      hx-trigger="input changed delay:150ms"
      hx-target={`#${PROJECTS_FOUND}`}
      hx-sync="this:replace"
    />
  )
}

/** Links to projects, in the menu. @param text what was typed to find them */
export function ProjectLinks(of: {
  rows: Known[]
  section: SectionName | undefined
  current?: string | undefined
  text?: string
}) {
  return (
    <ul data-for={of.text ?? ''}>
      {of.rows.map(({ id, name }) => (
        <li>
          <a href={sectionIn(id, of.section)} aria-current={id === of.current ? 'true' : undefined}>
            {name}
          </a>
        </li>
      ))}
      {of.rows.length === 0 && <li class="quiet">No project was found.</li>}
    </ul>
  )
}

/** The mode that was chosen for lists; or whether the project's connections receive live events, test events, or both. Nothing if there is none. */
export function Mode({ modes, chosen }: { modes: boolean[]; chosen: ModeName }) {
  if (chosen !== 'all') return <ModeBadge of={chosen === 'live'} />
  if (modes.length === 0) return null
  const [mode, hint] =
    modes.length > 1
      ? ['live + test', 'The project has connections to live and to test accounts']
      : modes[0]
        ? ['live', 'All connections of the project receive live events']
        : ['test', 'All connections of the project receive test events']
  return (
    <span class={`badge ${mode === 'live' ? 'good' : 'warn'}`} title={hint}>
      {mode}
    </span>
  )
}
