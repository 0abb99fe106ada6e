import { Hono } from 'hono'
import { batch, run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { listOwn } from '../../../members/own-invitations'
import { createProject } from '../../../projects/create'
import { restoreProject } from '../../../projects/end'
import { listOpenProjects, listRestorable } from '../../../projects/in-directory'
import { MAX_PROJECT_NAME } from '../../../projects/limits'
import { action } from '../../action'
import { pageAsked } from '../../list'
import { page, type Visit } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { PROJECTS_FOUND, PROJECTS_SHOWN, ProjectLinks } from '../../ui/frame/projects'
import type { SectionName } from '../../ui/frame/sections'
import { createPage, PROJECT, welcomePage } from './create'
import { DELETED } from './deleted'
import { listPage } from './list'

/** Invitations on the start page: the newest. */
const INVITED = 10
const create = action({
  at: '/projects/new',
  posts: '/projects',
  needs: 'account',
  ask: (c, _, sent) => createPage(c, sent),
  run: (c) => createProject(c.get('rt'), PROJECT.body(c.get('form')).name, userOf(c).user_id, changeOf(c)),
  done: (_, { id }) => [projectPaths(id).start, 'project_created'],
})

/** The projects that the menu of projects shows while somebody types a name. */
async function foundProjects(c: Visit, text: string) {
  const { directory } = c.get('rt')
  const rows = await run(directory, listOpenProjects(directory, userOf(c), { take: PROJECTS_SHOWN, text }))
  const { section, current } = c.req.query()
  return c.html(<ProjectLinks rows={rows} section={section as SectionName} current={current} text={text} />)
}

/** The console's start page: the invitations to the user's address, and the user's projects, also deleted ones. `q` finds projects by name. */
export const projectPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    const user = userOf(c)
    const text = (c.req.query('q') ?? '').trim().slice(0, MAX_PROJECT_NAME)
    if (c.req.header('HX-Target') === PROJECTS_FOUND) return foundProjects(c, text)
    const asked = { ...pageAsked(c), text }
    const list = paging('console/projects', asked)
    const { rows, invited, deleted } = await batch(directory, {
      rows: listOpenProjects(directory, user, { ...list, text }),
      invited: listOwn(directory, user, { before: null, take: INVITED + 1 }, now),
      deleted: listRestorable(directory, user, now, DELETED),
    })
    const found = list.page(rows, (row) => row)
    const invitations = { rows: invited.slice(0, INVITED), more: invited.length > INVITED }
    if (text === '' && found.data.length + deleted.length === 0) return welcomePage(c, invitations)
    return listPage(c, { ...found, text }, invitations, deleted)
  })
  .route('/', create)
  .post('/projects/:id/restore', page('user'), async (c) => {
    const of = { id: c.req.param('id'), session: userOf(c) }
    const { id } = await restoreProject(c.get('rt'), of, changeOf(c))
    return c.redirect(`${projectPaths(id).start}?done=project_restored`, 303)
  })
