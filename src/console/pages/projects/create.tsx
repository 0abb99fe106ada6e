import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { type Mistakes, UNSENT } from '../../form'
import { Field, Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The form for a new project. */
export function createPage(c: Context<HttpEnv>, name = '', { mistakes, status } = UNSENT) {
  return show(
    c,
    { title: 'New project', above: ['Projects', '/console'], status },
    <>
      <Head title="New project" />
      <NameForm c={c} name={name} mistakes={mistakes} />
    </>,
  )
}

/** The start page of a user who has no projects yet. */
export function welcomePage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Projects' },
    <section class="empty">
      <h1>Create your first project</h1>
      <p>
        A project holds the API keys, connections and webhook events of one product or environment. Its API keys work in
        this project only.
      </p>
      <NameForm c={c} />
    </section>,
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
