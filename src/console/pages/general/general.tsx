import type { Context } from 'hono'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import type { HttpEnv } from '../../../http/context'
import { RATE_LIMITS } from '../../../http/limits'
import { MAX_CONNECTIONS } from '../../../inbox/connections/limits'
import { roleWords } from '../../../lib/access-words'
import { MAX_NAME } from '../../../projects/limits'
import type { Project } from '../../../tenancy/project'
import { settingsOf } from '../../../tenancy/settings'
import { can, pathsOf } from '../../page'
import { type Refusal, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Field, Post, Wrong } from '../../ui/controls'
import { capital, plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head } from '../../ui/parts'
import { ConsumerSettings, type Entered, enteredFrom } from './consumers'
import { RESTORABLE } from './delete'
import { type Entered as EnteredRules, EntitlementSettings, enteredFrom as rulesFrom } from './entitlements'

/** The forms of the page, as they were sent; a form that was not sent is filled in from the project. */
type Sent = { name?: string; consumers?: Entered; rules?: EnteredRules; refusal?: Refusal }

/** The project's name, and what is set for it. */
export function generalPage(
  c: Context<HttpEnv>,
  project: Project,
  { name = project.name, consumers, rules, refusal = UNSENT }: Sent = {},
) {
  const { now, settings, store } = c.get('rt')
  const { role, email } = userOf(c)
  return show(
    c,
    { title: 'General', section: 'general', status: refusal.status },
    <>
      <Head title="General" />
      {can(c, 'projects:write') && (
        <Post c={c} to={pathsOf(c).general} class="form">
          <Wrong>{refusal.mistakes.form}</Wrong>
          <Field
            name="name"
            label="Project name"
            value={name}
            required
            maxlength={MAX_NAME}
            hint="The name is only for people. Servers use the ID, so a new name breaks nothing."
            mistakes={refusal.mistakes}
          />
          <button type="submit" class="primary">
            Save
          </button>
        </Post>
      )}
      <Security c={c} project={project} />
      <ConsumerSettings
        c={c}
        entered={consumers ?? enteredFrom(settingsOf(project.settings))}
        mistakes={consumers ? refusal.mistakes : {}}
      />
      <EntitlementSettings
        c={c}
        entered={rules ?? rulesFrom(settingsOf(project.settings))}
        mistakes={rules ? refusal.mistakes : {}}
      />
      <h2>Project ID</h2>
      <p class="quiet">
        Calls to the API name the project in the header <code>X-Project-Id</code>.
      </p>
      <Copyable id="project-id" label="project ID">
        {project.id}
      </Copyable>
      <h2>About this project</h2>
      <dl class="facts">
        {!can(c, 'projects:write') && <Fact name="Name">{project.name}</Fact>}
        <Fact name="Created">
          <ExactTime at={project.created_at} now={now} />
        </Fact>
        <Fact name="Store">
          {store} <span class="hint">The number of the database that holds the project’s data.</span>
        </Fact>
        <Fact name="Your role">
          {capital(role ?? 'none')}{' '}
          <span class="hint">
            {role && roleWords(role, 'You can')} You are signed in as {email}.
          </span>
        </Fact>
      </dl>
      <h2>Limits</h2>
      <p class="quiet">These are set for the whole deployment.</p>
      <dl class="facts">
        <Fact name="Payloads are kept for">{plural(settings.payloadRetentionDays, 'day')}</Fact>
        <Fact name="Records of events are kept for">{plural(settings.recordRetentionDays, 'day')}</Fact>
        <Fact name="Active API keys">up to {MAX_LIVE_KEYS}</Fact>
        <Fact name="Connections">up to {MAX_CONNECTIONS}</Fact>
        <Fact name="Requests of one key or session">about {RATE_LIMITS.credential.requests} a minute</Fact>
      </dl>
      {role === 'owner' && <End c={c} />}
    </>,
  )
}

/** The setting that requires a passkey. Only owners change it. */
function Security({ c, project }: { c: Context<HttpEnv>; project: Project }) {
  const { require_passkey } = settingsOf(project.settings)
  const what = 'Require a passkey of admins and owners'
  return (
    <>
      <h2>Sign-in</h2>
      {userOf(c).role === 'owner' ? (
        <Post c={c} to={`${pathsOf(c).general}/settings`} class="form">
          <div class="field">
            <div class="checks one">
              <label>
                <input
                  type="checkbox"
                  name="require_passkey"
                  value="true"
                  checked={require_passkey}
                  autocomplete="off"
                  aria-describedby="require-hint"
                />{' '}
                {what}
              </label>
            </div>
            <p class="hint" id="require-hint">
              They must use a passkey or a recovery code in each session, or they cannot open the project. Viewers,
              developers and API keys are not affected.
            </p>
          </div>
          <button type="submit">Save</button>
        </Post>
      ) : (
        <p>{require_passkey ? 'Admins and owners need a passkey.' : 'No passkey is required.'}</p>
      )}
    </>
  )
}

/** The way to the end of the project. */
function End({ c }: { c: Context<HttpEnv> }) {
  return (
    <>
      <h2>Delete this project</h2>
      <p class="quiet">
        Its API keys and ingest URLs stop working immediately. An owner can undo this for {RESTORABLE}. Then all of its
        data is deleted.
      </p>
      <p>
        <a class="button danger" href={`${pathsOf(c).general}/delete`} data-dialog>
          Delete this project
        </a>
      </p>
    </>
  )
}
