import { Hono } from 'hono'
import { activePlans } from '../../../catalog/plans'
import { batch } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { noProject, requireConfirmed } from '../../../http/policy'
import { Fault } from '../../../lib/fault'
import { changeSettingsEverywhere } from '../../../projects/change-settings'
import { deleteProject } from '../../../projects/end'
import { renameEverywhere } from '../../../projects/rename'
import { findProject } from '../../../tenancy/project'
import { type Settings, settingsOf } from '../../../tenancy/settings'
import { action } from '../../action'
import { backTo } from '../../from'
import { page, pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { Field } from '../../ui/controls'
import { PROJECT } from '../projects/create'
import { generalPage, RESTORABLE } from './general'
import { FORMS } from './settings'
import { partPath } from './tabs'

const rename = action({
  posts: '/',
  needs: 'projects:write',
  read,
  ask: (c, found, sent) => generalPage(c, found, { name: sent }),
  run: async (c) => {
    const { name } = PROJECT.body(c.get('form'))
    if (!(await renameEverywhere(c.get('rt'), projectOf(c.get('actor')), name, changeOf(c)))) throw noProject()
  },
  done: (c) => [pathsOf(c).general, 'project_renamed'],
})

/** The form that changes some settings. */
function change(which: keyof typeof FORMS) {
  const { form, tab } = FORMS[which]
  return action({
    posts: `/${which}`,
    needs: 'projects:write',
    read,
    ask: (c, found, sent) => generalPage(c, found, { [which]: sent }),
    run: async (c) => {
      const user = userOf(c)
      const settings = changedOf(form.body(c.get('form')), settingsOf((await read(c)).project.settings))
      if (Object.keys(settings).length === 0) return
      if (!(await changeSettingsEverywhere(c.get('rt'), user, { project_id: projectOf(user), settings }, changeOf(c))))
        throw noProject()
    },
    done: (c) => [backTo(c, partPath(c, tab)), 'settings_changed'],
  })
}

/** The settings that a form changes: it sends all that it shows, and the audit log names what changed. */
function changedOf(sent: object, stored: Settings): Partial<Settings> {
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(stored[name as keyof Settings])
  return Object.fromEntries(Object.entries(sent).filter(isChanged))
}

/** The field has another name than that of the page below the dialog, as its id. */
const remove = action({
  at: '/delete',
  needs: 'projects:read',
  counted: { ends: true },
  requires: (c) => {
    const user = userOf(c)
    if (user.role !== 'owner') throw new Fault('insufficient_role', 'Only an owner can delete the project.')
    requireConfirmed(user)
  },
  read,
  ask: (c, { project: { name } }, { mistakes }) => ({
    title: 'Delete this project',
    section: 'general',
    above: ['General', pathsOf(c).general],
    question: `Delete “${name}”?`,
    says: (
      <>
        <ul>
          <li>All API keys stop working immediately.</li>
          <li>Ingest URLs return 404, so vendors’ events are missed. Events that are waiting are not processed.</li>
          <li>No member can open the project.</li>
        </ul>
        <p>
          An owner can undo this for {RESTORABLE}, on the “Projects” page. Then all of its data is deleted permanently:
          events, billing state, members and the audit log.
        </p>
      </>
    ),
    choice: (
      <Field
        name="typed"
        label="Type the name of the project to delete it"
        required
        hint={name}
        mistakes={mistakes.name ? { typed: 'This is not the name of the project. Nothing was deleted.' } : {}}
      />
    ),
    verb: 'Delete project',
    danger: true,
  }),
  run: (c) => {
    const of = { id: projectOf(c.get('actor')), session: userOf(c) }
    return deleteProject(c.get('rt'), of, (c.get('form').get('typed') ?? '').trim(), changeOf(c))
  },
  done: () => ['/console', 'project_deleted'],
})

/** The project itself: its name, its id, where its data is kept, and its end. */
export const generalPages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => generalPage(c, await read(c)))
  .route('/', rename)
  .route('/', change('settings'))
  .route('/', change('consumers'))
  .route('/', change('entitlements'))
  .route('/', change('purchases'))
  .route('/', change('exposure'))
  .route('/', remove)

/** The project of the page, and the plans that can be its default plan. */
async function read(c: Visit) {
  const { db } = c.get('rt')
  const id = projectOf(c.get('actor'))
  const { rows, plans } = await batch(db, { rows: findProject(db, { id }), plans: activePlans(db, id) })
  const [project] = rows
  if (!project) throw noProject()
  return { project, plans }
}
