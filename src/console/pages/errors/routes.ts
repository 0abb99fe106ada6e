import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page } from '../../page'
import { visitorOf } from '../../session'
import { errorsPage } from './errors'

/** The table of error codes, for anybody. A signed-in user sees it in the frame. */
export const errorPages = new Hono<HttpEnv>().get('/', page('anyone'), async (c) => {
  // This page must answer when the database does not: without the user, it is shown without the frame.
  const user = await visitorOf(c).catch(() => null)
  if (user) c.set('actor', user)
  return errorsPage(c)
})
