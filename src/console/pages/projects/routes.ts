import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { createProject } from '../../../projects/create'
import { listMemberProjects } from '../../../projects/directory-store'
import { ProjectBody } from '../../../projects/fields'
import { parse, refusalOf } from '../../form'
import { readList } from '../../list'
import { page } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { createPage, welcomePage } from './create'
import { listPage } from './list'

/** The console's start page: the user's projects. */
export const projectPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory } = c.get('rt')
    const { user_id } = userOf(c)
    const read = (before: string | null, limit: number) =>
      run(directory, listMemberProjects(directory, user_id, before, limit))
    const found = await readList(c, 'projects', read)
    return found.data.length === 0 ? welcomePage(c) : listPage(c, found)
  })
  .get('/projects/new', page('user'), (c) => createPage(c))
  .post('/projects', page('user'), async (c) => {
    const name = c.get('form').get('name') ?? ''
    try {
      const fields = parse(ProjectBody, { name })
      const { id } = await createProject(c.get('rt'), fields.name, userOf(c).user_id, changeOf(c))
      return c.redirect(`${projectPaths(id).keys}?done=project_created`, 303)
    } catch (error) {
      return createPage(c, name, refusalOf(error))
    }
  })
  .get('/p/:project', page('projects:read'), (c) => c.redirect(projectPaths(c.req.param('project')).keys, 303))
