import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { changeSettingsEverywhere } from '../../../projects/change-settings'
import { ProjectBody } from '../../../projects/fields'
import { renameEverywhere } from '../../../projects/rename'
import { findProject } from '../../../projects/store'
import { parse, refusalOf, UNSENT } from '../../form'
import { page, pathsOf } from '../../page'
import { userOf } from '../../session'
import { generalPage } from './general'

/** The project itself: its name, its id, and where its data is kept. */
export const generalPages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => {
    const { db } = c.get('rt')
    const [project] = await run(db, findProject(db, projectOf(c.get('actor'))))
    if (!project) throw notFound()
    return generalPage(c, project, project.name, UNSENT)
  })
  .post('/', page('projects:write'), async (c) => {
    const rt = c.get('rt')
    const id = projectOf(c.get('actor'))
    const name = c.get('form').get('name') ?? ''
    try {
      const fields = parse(ProjectBody, { name })
      if (!(await renameEverywhere(rt, id, fields.name, changeOf(c)))) throw notFound()
      return c.redirect(`${pathsOf(c).general}?done=project_renamed`, 303)
    } catch (error) {
      const refusal = refusalOf(error)
      const [project] = await run(rt.db, findProject(rt.db, id))
      if (!project) throw notFound()
      return generalPage(c, project, name, refusal)
    }
  })
  .post('/settings', page('projects:write'), async (c) => {
    const require_passkey = c.get('form').get('require_passkey') === 'true'
    const user = userOf(c)
    if (!(await changeSettingsEverywhere(c.get('rt'), user, projectOf(user), { require_passkey }, changeOf(c)))) {
      throw notFound()
    }
    return c.redirect(`${pathsOf(c).general}?done=settings_changed`, 303)
  })

function notFound(): Fault {
  return new Fault('not_found', 'Project not found, or you are not a member of it.')
}
