import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { enterIfKnown, page } from '../../page'
import { errorsPage } from './errors'

/** The table of error codes, for anybody. A signed-in user sees it in the frame. */
export const errorPages = new Hono<HttpEnv>().get('/', page('anyone'), async (c) => {
  await enterIfKnown(c, null)
  return errorsPage(c)
})
