import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import type { ActivePlan } from '../../../catalog/plans'
import { RATE_LIMITS } from '../../../http/limits'
import { MAX_CONNECTIONS } from '../../../inbox/connections/limits'
import { roleWords } from '../../../lib/access-words'
import { DAY } from '../../../lib/time'
import { RESTORABLE_FOR } from '../../../projects/limits'
import type { Project } from '../../../tenancy/project'
import { settingsOf } from '../../../tenancy/settings'
import { can, pathsOf, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Post, Wrong } from '../../ui/controls'
import { capital, plural } from '../../ui/format'
import { Jumps, type Part } from '../../ui/jumps'
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head } from '../../ui/parts'
import { PROJECT } from '../projects/create'
import { PurchaseSettings } from './purchase-rules'
import { ConsumerSettings, EntitlementSettings, ExposureSettings, type FORMS, Security } from './settings'

/** How long a deleted project can be restored, in words. */
export const RESTORABLE = plural(RESTORABLE_FOR / DAY, 'day')

type Read = { project: Project; plans: readonly ActivePlan[] }

/** The project's name, and what is set for it. @param sent the form of the page that was refused, if one was */
export function generalPage(
  c: Visit,
  { project, plans }: Read,
  sent: { [form in 'name' | keyof typeof FORMS]?: Sent } = {},
) {
  const { status } = Object.values(sent)[0] ?? UNSENT
  const name = sent.name ?? { ...UNSENT, entered: PROJECT.opened(project) }
  const set = settingsOf(project.settings)
  const { now, settings, store } = c.get('rt')
  const { role, email } = userOf(c)
  return show(
    c,
    { title: 'General', section: 'general', status },
    <>
      <Head title="General" />
      <Jumps to={role === 'owner' ? [...PARTS, ['delete', 'Deletion']] : PARTS} />
      {can(c, 'projects:write') && (
        <Post c={c} to={pathsOf(c).general} class="form card">
          <Wrong>{name.mistakes.form}</Wrong>
          {PROJECT.field('name', name, {
            label: 'Project name',
            hint: 'Renaming the project breaks nothing: servers use its ID.',
            autofocus: false,
          })}
          <button type="submit" class="primary">
            Save
          </button>
        </Post>
      )}
      <h2 id="project">Project ID</h2>
      <p class="quiet">
        API calls send this ID in the <code>X-Project-Id</code> header.
      </p>
      <Copyable id="project-id" label="project ID">
        {project.id}
      </Copyable>
      <Security c={c} settings={set} sent={sent.settings} />
      <ConsumerSettings c={c} settings={set} sent={sent.consumers} />
      <EntitlementSettings c={c} settings={set} plans={plans} sent={sent.entitlements} />
      <PurchaseSettings c={c} settings={set} sent={sent.purchases} />
      <ExposureSettings c={c} settings={set} sent={sent.exposure} />
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
      <h2 id="limits">Limits</h2>
      <p class="quiet">These are set for the whole deployment.</p>
      <dl class="facts">
        <Fact name="Payloads are kept for">{plural(settings.payloadRetentionDays, 'day')}</Fact>
        <Fact name="Event records are kept for">{plural(settings.recordRetentionDays, 'day')}</Fact>
        <Fact name="The audit log is kept for">{plural(settings.auditRetentionDays, 'day')}</Fact>
        <Fact name="Active API keys">up to {MAX_LIVE_KEYS}</Fact>
        <Fact name="Connections">up to {MAX_CONNECTIONS}</Fact>
        <Fact name="Requests per key or session">
          about {RATE_LIMITS.credential.requests.toLocaleString('en')} a minute, including up to{' '}
          {RATE_LIMITS.caller_writes.requests} writes and {RATE_LIMITS.caller_costly.requests} costly requests
        </Fact>
        <Fact name="Requests from all keys together">
          about {RATE_LIMITS.project_reads.requests.toLocaleString('en')} reads,{' '}
          {RATE_LIMITS.project_writes.requests.toLocaleString('en')} writes and {RATE_LIMITS.project_costly.requests}{' '}
          costly requests a minute
        </Fact>
      </dl>
      {role === 'owner' && <End c={c} />}
    </>,
  )
}

const PARTS: readonly Part[] = [
  ['project', 'Project ID'],
  ['sign-in', 'Sign-in'],
  ['consumers', 'Consumers'],
  ['rules', 'Entitlements'],
  ['purchases', 'Refunds and disputes'],
  ['exposure', 'Exposed secrets'],
  ['limits', 'Limits'],
]

/** The way to the end of the project. */
function End({ c }: { c: Visit }) {
  return (
    <>
      <h2 id="delete">Delete this project</h2>
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
