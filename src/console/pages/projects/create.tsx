import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { type Mistakes, UNSENT } from '../../form'
import { Field, Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The form of a new project. */
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

/** The same, for a user who has no project yet. */
export function welcomePage(c: Context<HttpEnv>) {
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
