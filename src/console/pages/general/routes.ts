import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { noProject, requireConfirmed } from '../../../http/policy'
import { Fault } from '../../../lib/fault'
import { changeSettingsEverywhere } from '../../../projects/change-settings'
import { deleteProject } from '../../../projects/end'
import { ProjectBody } from '../../../projects/fields'
import { renameEverywhere } from '../../../projects/rename'
import { findProject, type Project } from '../../../tenancy/project'
import { ProjectSettings } from '../../../tenancy/settings'
import { page, pathsOf } from '../../page'
import { parse, refusalOf } from '../../refusal'
import { userOf } from '../../session'
import { enteredIn, settingsIn } from './consumers'
import { deletePage } from './delete'
import { enteredIn as rulesEntered, settingsIn as rulesIn } from './entitlements'
import { generalPage } from './general'

const OfEntitlements = ProjectSettings.pick({ grace_days: true, renewal_slack_hours: true, test_mode_counts: true })
const OfConsumers = ProjectSettings.pick({
  link_hints: true,
  consumer_keys: true,
  max_devices: true,
  devices_feature: true,
})

/** The project itself: its name, its id, where its data is kept, and its end. */
export const generalPages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => generalPage(c, await read(c)))
  .post('/', page('projects:write'), async (c) => {
    const rt = c.get('rt')
    const id = projectOf(c.get('actor'))
    const name = c.get('form').get('name') ?? ''
    try {
      const fields = parse(ProjectBody, { name })
      if (!(await renameEverywhere(rt, id, fields.name, changeOf(c)))) throw noProject()
      return c.redirect(`${pathsOf(c).general}?done=project_renamed`, 303)
    } catch (error) {
      const refusal = refusalOf(error)
      return generalPage(c, await read(c), { name, refusal })
    }
  })
  .get('/delete', page('projects:read'), async (c) => {
    requireConfirmedOwner(c)
    return deletePage(c, await read(c))
  })
  .post('/delete', page('projects:read'), async (c) => {
    requireConfirmedOwner(c)
    const of = { id: projectOf(c.get('actor')), session: userOf(c) }
    try {
      await deleteProject(c.get('rt'), of, (c.get('form').get('typed') ?? '').trim(), changeOf(c))
      return c.redirect('/console?done=project_deleted', 303)
    } catch (error) {
      const refusal = refusalOf(error)
      return deletePage(c, await read(c), refusal)
    }
  })
  .post('/settings', page('projects:write'), async (c) => {
    const require_passkey = c.get('form').get('require_passkey') === 'true'
    const user = userOf(c)
    if (!(await changeSettingsEverywhere(c.get('rt'), user, projectOf(user), { require_passkey }, changeOf(c)))) {
      throw noProject()
    }
    return c.redirect(`${pathsOf(c).general}?done=settings_changed`, 303)
  })
  .post('/consumers', page('projects:write'), async (c) => {
    const user = userOf(c)
    const consumers = enteredIn(c.get('form'))
    try {
      const settings = parse(OfConsumers, settingsIn(consumers))
      if (!(await changeSettingsEverywhere(c.get('rt'), user, projectOf(user), settings, changeOf(c)))) {
        throw noProject()
      }
      return c.redirect(`${pathsOf(c).general}?done=settings_changed`, 303)
    } catch (error) {
      const { mistakes, status } = refusalOf(error)
      // The call takes the settings in a field of its own, which is where a feature that is not there is refused.
      const { settings, ...rest } = mistakes
      const refusal = { mistakes: settings === undefined ? rest : { devices_feature: settings, ...rest }, status }
      return generalPage(c, await read(c), { consumers, refusal })
    }
  })
  .post('/entitlements', page('projects:write'), async (c) => {
    const user = userOf(c)
    const rules = rulesEntered(c.get('form'))
    try {
      const settings = parse(OfEntitlements, rulesIn(rules))
      if (!(await changeSettingsEverywhere(c.get('rt'), user, projectOf(user), settings, changeOf(c)))) {
        throw noProject()
      }
      return c.redirect(`${pathsOf(c).general}?done=settings_changed`, 303)
    } catch (error) {
      const refusal = refusalOf(error)
      return generalPage(c, await read(c), { rules, refusal })
    }
  })

/** The project of the page. */
async function read(c: Context<HttpEnv>): Promise<Project> {
  const { db } = c.get('rt')
  const [project] = await run(db, findProject(db, projectOf(c.get('actor'))))
  if (!project) throw noProject()
  return project
}

function requireConfirmedOwner(c: Context<HttpEnv>): void {
  const user = userOf(c)
  if (user.role !== 'owner') throw new Fault('insufficient_role', 'Only an owner can delete the project.')
  requireConfirmed(user)
}
