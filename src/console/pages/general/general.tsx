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
import { show } from '../../ui/layout'
import { Copyable, ExactTime, Fact, Head } from '../../ui/parts'
import { TabLinks } from '../../ui/tabs'
import { PROJECT } from '../projects/create'
import { PurchaseSettings } from './purchase-rules'
import { ConsumerSettings, EntitlementSettings, ExposureSettings, FORMS, Security } from './settings'
import { TABS, type TabName, tabIn } from './tabs'

/** How long a deleted project can be restored, in words. */
export const RESTORABLE = plural(RESTORABLE_FOR / DAY, 'day')

type Read = { project: Project; plans: readonly ActivePlan[] }
/** The form of the page that was refused, if one was. */
type SentForm = { [form in 'name' | keyof typeof FORMS]?: Sent }

/** The project's name, and what is set for it, in parts with addresses. */
export function generalPage(c: Visit, { project, plans }: Read, sent: SentForm = {}) {
  const [refused] = Object.entries(sent) as [keyof SentForm, Sent][]
  const tab = refused ? tabOfForm(refused[0]) : tabIn(c)
  const set = settingsOf(project.settings)
  return show(
    c,
    { title: 'General', section: 'general', status: (refused?.[1] ?? UNSENT).status },
    <>
      <Head title="General" />
      <TabLinks path={pathsOf(c).general} tabs={TABS} current={tab} />
      {tab === 'project' && (
        <>
          <Identity c={c} project={project} sent={sent.name} />
          <Security c={c} settings={set} sent={sent.settings} />
          <ExposureSettings c={c} settings={set} sent={sent.exposure} />
          <About c={c} project={project} />
          {userOf(c).role === 'owner' && <End c={c} />}
        </>
      )}
      {tab === 'consumers' && <ConsumerSettings c={c} settings={set} sent={sent.consumers} />}
      {tab === 'entitlements' && <EntitlementSettings c={c} settings={set} plans={plans} sent={sent.entitlements} />}
      {tab === 'purchases' && <PurchaseSettings c={c} settings={set} sent={sent.purchases} />}
      {tab === 'limits' && <Limits c={c} />}
    </>,
  )
}

const tabOfForm = (name: keyof SentForm): TabName => (name === 'name' ? 'project' : FORMS[name].tab)

/** The name of the project, and its id. */
function Identity({ c, project, sent }: { c: Visit; project: Project; sent: Sent | undefined }) {
  const name = sent ?? { ...UNSENT, entered: PROJECT.opened(project) }
  return (
    <>
      {can(c, 'projects:write') && (
        <>
          <h2>Name</h2>
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
        </>
      )}
      <h2>Project ID</h2>
      <p class="quiet">
        API calls send this ID in the <code>X-Project-Id</code> header.
      </p>
      <Copyable id="project-id" label="project ID">
        {project.id}
      </Copyable>
    </>
  )
}

function About({ c, project }: { c: Visit; project: Project }) {
  const { now, store, stores } = c.get('rt')
  const { role, email } = userOf(c)
  return (
    <>
      <h2>About this project</h2>
      <dl class="facts">
        {!can(c, 'projects:write') && <Fact name="Name">{project.name}</Fact>}
        <Fact name="Created">
          <ExactTime at={project.created_at} now={now} />
        </Fact>
        {stores.length > 1 && (
          <Fact name="Store">
            {store} <span class="hint">The number of the database that holds the project’s data.</span>
          </Fact>
        )}
        <Fact name="Your role">
          {capital(role ?? 'none')}{' '}
          <span class="hint">
            {role && roleWords(role, 'You can')} You are signed in as {email}.
          </span>
        </Fact>
      </dl>
    </>
  )
}

function Limits({ c }: { c: Visit }) {
  const { settings } = c.get('rt')
  return (
    <>
      <h2>Limits</h2>
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
    </>
  )
}

/** The way to the end of the project. */
function End({ c }: { c: Visit }) {
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
