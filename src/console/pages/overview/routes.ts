import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page, pathsOf } from '../../page'
import { overviewPage } from './overview'
import { readOverview, readProgress } from './read'
import { SetupSteps, seenOf } from './steps'

/** The first page of a project, and redirects from the paths above its other pages. */
export const overviewPages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => overviewPage(c, await readOverview(c)))
  .get('/steps', page('projects:read'), async (c) => {
    const of = await readProgress(c)
    if (c.req.query('seen') === seenOf(of)) return c.body(null, 204)
    return c.html(SetupSteps({ c, of, fresh: true }))
  })
  .get('/platform', page('projects:read'), (c) => c.redirect(pathsOf(c).start, 303))
  .get('/platform/settings', page('projects:read'), (c) => c.redirect(pathsOf(c).general, 303))
  .get('/platform/billing', page('billing:read'), (c) => c.redirect(`${pathsOf(c).billing}/subscriptions`, 303))
