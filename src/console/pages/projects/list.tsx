import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import type { MemberProject } from '../../../projects/directory-store'
import { projectPaths } from '../../paths'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { Table } from '../../ui/table'

/** The list of the projects that the user is a member of. */
export function listPage(c: Context<HttpEnv>, { data, next_cursor }: Page<MemberProject>) {
  return show(
    c,
    { title: 'Projects' },
    <>
      <Head title="Projects">
        <a class="button primary" href="/console/projects/new">
          New project
        </a>
      </Head>
      <Table
        label="Projects"
        rows={data}
        columns={[
          ['Name', (row) => <a href={projectPaths(row.id).start}>{row.name}</a>],
          ['ID', (row) => <code>{row.id}</code>],
          ['Your role', (row) => row.role],
          ['Created', (row) => <Time at={row.created_at} now={c.get('rt').now} />],
        ]}
      />
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}
