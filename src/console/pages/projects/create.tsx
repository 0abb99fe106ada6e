import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MAX_NAME } from '../../../projects/limits'
import { type Mistakes, UNSENT } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { OwnInvitations } from '../invitations/own'
import type { Invited } from './list'

/** The form for a new project. */
export function createPage(c: Context<HttpEnv>, name = '', { mistakes, status } = UNSENT) {
  return show(
    c,
    { title: 'New project', section: 'projects', above: ['Projects', '/console'], status },
    <>
      <Head title="New project" />
      <p class="quiet">
        A project holds the API keys, connections and events of one product. Make another one for a test environment:
        keys of one project never work in another.
      </p>
      <NameForm c={c} name={name} mistakes={mistakes} cancel />
    </>,
  )
}

/** The start page of a user who has no projects yet: the invitations to their address come first. */
export function welcomePage(c: Context<HttpEnv>, invited: Invited) {
  return show(
    c,
    { title: 'Projects', section: 'projects' },
    invited.rows.length > 0 ? <Invitations c={c} invited={invited} /> : <First c={c} />,
  )
}

function Invitations({ c, invited }: { c: Context<HttpEnv>; invited: Invited }) {
  return (
    <>
      <Head title="Projects">
        <a class="button" href="/console/projects/new">
          New project
        </a>
      </Head>
      <OwnInvitations c={c} {...invited} />
      <p class="quiet">Once you accept, the project appears here. You can also create a project of your own.</p>
    </>
  )
}

function First({ c }: { c: Context<HttpEnv> }) {
  return (
    <section class="empty">
      <h1>Create your first project</h1>
      <p>
        A project holds the API keys, connections and webhook events of one product or environment. Its API keys work in
        this project only.
      </p>
      <NameForm c={c} />
      <p class="hint">
        Are you looking for somebody else’s project? An admin or owner of it must invite you. Check that you are signed
        in with the right address.
      </p>
    </section>
  )
}

type NameFormProps = { c: Context<HttpEnv>; name?: string; mistakes?: Mistakes; cancel?: boolean }

function NameForm({ c, name, mistakes, cancel }: NameFormProps) {
  return (
    <Post c={c} to="/console/projects" class="form">
      <Wrong>{mistakes?.form}</Wrong>
      <Field
        name="name"
        label="Name"
        value={name}
        required
        maxlength={MAX_NAME}
        autofocus
        mistakes={mistakes}
        hint="For example “Acme production”. You can change it later."
      />
      <div class="choice">
        <button type="submit" class="primary">
          Create project
        </button>
        {cancel && (
          <a class="button" href="/console">
            Cancel
          </a>
        )}
      </div>
    </Post>
  )
}
