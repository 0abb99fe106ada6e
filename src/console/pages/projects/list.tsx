import type { Page } from '../../../http/page'
import type { OwnInvitation } from '../../../members/own-invitations'
import type { MemberProject } from '../../../projects/in-directory'
import { MAX_PROJECT_NAME } from '../../../projects/limits'
import type { Visit } from '../../page'
import { projectPaths } from '../../paths'
import { Finder } from '../../ui/finder'
import { capital, exact } from '../../ui/format'
import { PROJECTS_SHOWN } from '../../ui/frame/projects'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { OwnInvitations } from '../invitations/own'
import { Undo } from './deleted'

/** The invitations to the user's address, and whether there are older ones. */
export type InvitedTo = { rows: OwnInvitation[]; more: boolean }

/** The list of the projects that the user is a member of, below the invitations to others. With a `text`, those that it finds. */
export function listPage(
  c: Visit,
  { data, next_cursor, text }: Page<MemberProject> & { text: string },
  invited: InvitedTo,
  deleted: readonly MemberProject[],
) {
  return show(
    c,
    { title: 'Projects', section: 'projects' },
    <>
      <Head title="Projects">
        <a class="button primary" href="/console/projects/new">
          New project
        </a>
      </Head>
      <OwnInvitations c={c} {...invited} />
      {invited.rows.length > 0 && <h2>Your projects</h2>}
      <p class="quiet">
        Each project has its own API keys, connections and events. Nothing is shared between projects.
      </p>
      {(text !== '' || data.length > PROJECTS_SHOWN) && (
        <Finder
          action="/console"
          q={text}
          label="Find a project"
          placeholder="A part of the name, or prj_…"
          maxlength={MAX_PROJECT_NAME}
        />
      )}
      {data.length > 0 ? (
        <Table
          label="Projects"
          rows={data}
          class="keys"
          columns={[
            [
              'Name',
              (row) => (
                <a class="name" href={projectPaths(row.id).start}>
                  {row.name}
                </a>
              ),
            ],
            ['Your role', (row) => capital(row.role)],
            ['Created', (row) => <Time at={row.created_at} now={c.get('rt').now} />],
            ['ID', (row) => <Id>{row.id}</Id>],
          ]}
        />
      ) : (
        text !== '' && (
          <p class="empty">
            No project was found. <a href="/console">Show all projects</a>
          </p>
        )
      )}
      <Pager c={c} cursor={next_cursor} />
      <Deleted c={c} rows={deleted} />
    </>,
  )
}

/** The deleted projects that can still be restored. Renders nothing if there are none. */
function Deleted({ c, rows }: { c: Visit; rows: readonly MemberProject[] }) {
  const { now } = c.get('rt')
  if (rows.length === 0) return null
  return (
    <section aria-labelledby="deleted-title">
      <h2 id="deleted-title">Deleted projects</h2>
      <p class="quiet">
        Their API keys and ingest URLs do not work. An owner can undo the deletion until the time shown.
      </p>
      <Table
        label="Deleted projects"
        rows={[...rows]}
        class="keys"
        columns={[
          ['Name', (row) => <span class="name">{row.name}</span>],
          ['Your role', (row) => capital(row.role)],
          ['Deleted', (row) => <Time at={row.deleted_at} now={now} />],
          ['Can be undone until', (row) => exact(row.purge_at ?? now)],
          ['', (row) => (row.role === 'owner' ? <Undo c={c} row={row} /> : <>Ask an owner</>)],
        ]}
      />
    </section>
  )
}
