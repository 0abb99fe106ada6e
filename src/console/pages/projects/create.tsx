import { ProjectBody } from '../../../projects/fields'
import { MAX_PROJECT_NAME } from '../../../projects/limits'
import { form, text } from '../../form'
import type { Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { OwnInvitations } from '../invitations/own'
import type { InvitedTo } from './list'

/** The form of a project's name. */
export const PROJECT = form(ProjectBody, {
  name: text('Name', {
    required: true,
    maxlength: MAX_PROJECT_NAME,
    autofocus: true,
    hint: 'For example “Acme production”. You can change it later.',
  }),
})

/** The form for a new project. */
export function createPage(c: Visit, sent: Sent) {
  return show(
    c,
    { title: 'New project', section: 'projects', above: ['Projects', '/console'], status: sent.status },
    <>
      <Head title="New project" />
      <p class="quiet">
        A project holds the API keys, connections and events of one product. Make another one for a test environment:
        keys of one project never work in another.
      </p>
      <NameForm c={c} sent={sent} cancel />
    </>,
  )
}

/** The start page of a user who has no projects yet: the invitations to their address come first. */
export function welcomePage(c: Visit, invited: InvitedTo) {
  return show(
    c,
    { title: 'Projects', section: 'projects' },
    invited.rows.length > 0 ? <Invitations c={c} invited={invited} /> : <First c={c} />,
  )
}

function Invitations({ c, invited }: { c: Visit; invited: InvitedTo }) {
  return (
    <>
      <Head title="Projects">
        <a class="button" href="/console/projects/new">
          New project
        </a>
      </Head>
      <OwnInvitations c={c} {...invited} />
      <p class="quiet">Once you accept, the project appears here. You can also create your own project.</p>
    </>
  )
}

function First({ c }: { c: Visit }) {
  return (
    <section class="empty">
      <h1>Create your first project</h1>
      <p>
        A project holds the API keys, connections and webhook events of one product or environment. Its API keys work in
        this project only.
      </p>
      <NameForm c={c} sent={UNSENT} />
      <p class="hint">
        Are you looking for someone else’s project? An admin or owner of it must invite you. Check that you are signed
        in with the right address.
      </p>
    </section>
  )
}

function NameForm({ c, sent, cancel }: { c: Visit; sent: Sent; cancel?: boolean }) {
  return (
    <Post c={c} to="/console/projects" class="form">
      <Wrong>{sent.mistakes.form}</Wrong>
      {PROJECT.field('name', sent)}
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
