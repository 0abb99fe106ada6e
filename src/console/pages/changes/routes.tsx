import { Hono } from 'hono'
import * as z from 'zod'
import { type Change, mayRead, mayReadAll, presentChange, typesField } from '../../../feed/fields'
import { newestChanges, readChange } from '../../../feed/read'
import type { ChangeType } from '../../../feed/types'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { Fault } from '../../../lib/fault'
import { pageAsked } from '../../list'
import { page, type Visit } from '../../page'
import { type Mistakes, parse, refusalOf } from '../../refusal'
import { listPage } from './list'
import { readNames } from './names'

const Filter = z.strictObject({ types: typesField })

/** What has changed in the project, newest first. */
export const changePages = new Hono<HttpEnv>().get('/', page('projects:read'), async (c) => {
  const number = c.req.query('number')
  if (number !== undefined) return onePage(c, readNumber(number))
  const types = c.req.query('types') ?? ''
  const asked = readFilter(types)
  if ('mistakes' in asked) return listPage(c, { types, mistakes: asked.mistakes }, null)
  const { scopes } = c.get('actor')
  const list = paging(`console/changes/${types}`, pageAsked(c))
  const { data, before, epoch } = await newestChanges(c.get('rt').db, projectOf(c.get('actor')), {
    before: list.before === null ? null : readNumber(list.before),
    limit: pageAsked(c).limit,
    filtered: asked.types !== undefined || !mayReadAll(scopes),
    shows: ({ type }) => (!asked.types || asked.types.has(type as ChangeType)) && mayRead(scopes, type),
  })
  const shown: Change[] = data.map((change) => presentChange(change, epoch))
  const page = list.upTo(shown, before === null ? null : String(before))
  return listPage(c, { types, mistakes: {} }, page, await readNames(c, shown))
})

/** The list with one change alone, which other pages lead to. */
async function onePage(c: Visit, number: number) {
  const found = await readChange(c.get('rt').db, projectOf(c.get('actor')), number)
  const may = found && mayRead(c.get('actor').scopes, found.change.type)
  const data = may ? [presentChange(found.change, found.epoch)] : []
  return listPage(
    c,
    { types: '', mistakes: {} },
    { data, has_more: false, next_cursor: null },
    await readNames(c, data),
  )
}

function readFilter(types: string): z.infer<typeof Filter> | { mistakes: Mistakes } {
  try {
    return parse(Filter, types === '' ? {} : { types })
  } catch (error) {
    return { mistakes: refusalOf(error).mistakes }
  }
}

function readNumber(key: string): number {
  if (/^\d{1,15}$/.test(key)) return Number(key)
  throw new Fault('invalid_cursor', 'Start the list again on its first page.')
}
