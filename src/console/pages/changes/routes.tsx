import { Hono } from 'hono'
import { mayRead, presentChange } from '../../../feed/fields'
import { readChange } from '../../../feed/read'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { pageAsked } from '../../list'
import { page, type Visit } from '../../page'
import { changeCsv } from './csv'
import { ALL_TYPES, findChanges, readFilter, readNumber } from './find'
import { listPage } from './list'
import { readNames } from './names'

/** What has changed in the project. */
export const changePages = new Hono<HttpEnv>().route('/', changeCsv).get('/', page('projects:read'), async (c) => {
  const number = c.req.query('number')
  if (number !== undefined) return onePage(c, readNumber(number))
  const types = c.req.query('types') ?? ''
  const asked = readFilter(new URL(c.req.url).searchParams)
  if ('mistakes' in asked) return listPage(c, { types, mistakes: asked.mistakes }, null)
  const found = await findChanges(c, asked, pageAsked(c))
  return listPage(c, { types, mistakes: {} }, found, await readNames(c, found.data))
})

/** The list with one change alone, which other pages lead to. */
async function onePage(c: Visit, number: number) {
  const found = await readChange(c.get('rt').db, projectOf(c.get('actor')), number)
  const may = found && mayRead(c.get('actor').scopes, found.change.type)
  const data = may ? [presentChange(found.change, found.epoch)] : []
  return listPage(
    c,
    { types: ALL_TYPES, mistakes: {} },
    { data, has_more: false, next_cursor: null, total: null },
    await readNames(c, data),
  )
}
