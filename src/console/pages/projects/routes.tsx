import { type Context, Hono } from 'hono'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { ProjectBody } from '../../../projects/fields'
import { insertProject, listMemberProjects } from '../../../projects/store'
import { pageOf } from '../../list'
import { type Mistakes, mistakesOf, page, parse } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { show } from '../../ui/layout'
import { Field, Head, More, Post, Table, Time } from '../../ui/parts'

/** The console's start: the projects of whoever is signed in. */
export const projectPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { db, now } = c.get('rt')
    const read = (before: string | null, limit: number) => listMemberProjects(db, userOf(c).user_id, before, limit)
    const { data, next_cursor } = await pageOf(c, 'projects', read)
    if (data.length === 0) return welcome(c)
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
          heads={['Name', 'Id', 'Your role', 'Created']}
          rows={data.map((row) => [
            <a href={projectPaths(row.id).start}>{row.name}</a>,
            <code>{row.id}</code>,
            row.role,
            <Time at={row.created_at} now={now} />,
          ])}
        />
        <More c={c} cursor={next_cursor} />
      </>,
    )
  })
  .get('/projects/new', page('user'), (c) => form(c))
  .post('/projects', page('user'), async (c) => {
    const name = c.get('form').get('name') ?? ''
    try {
      const fields = parse(ProjectBody, { name })
      const { id } = await insertProject(c.get('rt').db, fields.name, userOf(c).user_id, changeOf(c))
      return c.redirect(`${projectPaths(id).keys}?done=project_created`, 303)
    } catch (error) {
      return form(c, name, mistakesOf(error).mistakes)
    }
  })
  .get('/p/:project', page('projects:read'), (c) => c.redirect(projectPaths(c.req.param('project')).keys, 303))

function welcome(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Projects' },
    <section class="empty">
      <h1>Create your first project</h1>
      <p>A project holds API keys and the billing events of one product or environment. Its keys work nowhere else.</p>
      <NameForm c={c} />
    </section>,
  )
}

function form(c: Context<HttpEnv>, name = '', mistakes: Mistakes = {}) {
  return show(
    c,
    { title: 'New project', above: ['Projects', '/console'], status: Object.keys(mistakes).length > 0 ? 422 : 200 },
    <>
      <Head title="New project" />
      <NameForm c={c} name={name} mistakes={mistakes} />
    </>,
  )
}

function NameForm({ c, name, mistakes }: { c: Context<HttpEnv>; name?: string; mistakes?: Mistakes }) {
  return (
    <Post c={c} to="/console/projects" class="form">
      <Field name="name" label="Name" value={name} required maxlength={100} autofocus mistakes={mistakes} />
      <button type="submit" class="primary">
        Create project
      </button>
    </Post>
  )
}
