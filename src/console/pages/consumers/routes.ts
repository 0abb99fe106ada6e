import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page, pathsOf } from '../../page'
import { consumerPage } from './consumer'
import { consumerCsv } from './csv'
import { revokeDevicePages } from './devices'
import { askedIn, findExact, listFound, withPlans } from './find'
import { formPages } from './form'
import { removeIdentityPages } from './identities'
import { keyPages } from './key-pages'
import { listPage } from './list'
import { mergePages } from './merge'
import { readShownConsumer } from './read'
import { statePages } from './state'
import { tabOf } from './tabs'

/** Consumers: find, create, look at, edit, block, merge. */
export const consumerPages = new Hono<HttpEnv>().get('/', page('consumers:read'), async (c) => {
  const asked = askedIn(c)
  const isSearch = asked.q !== '' && asked.state === undefined && c.req.query('cursor') === undefined
  const [exact, found] = await Promise.all([isSearch ? findExact(c, asked.q) : [], listFound(c, asked)])
  const [one, another] = exact.length > 0 ? exact : found.data
  if (isSearch && one && !another) return c.redirect(`${pathsOf(c).consumers}/${one.id}`, 303)
  return listPage(c, asked, { ...found, data: await withPlans(c, found.data) })
})

// The file and the form of a new consumer come before the page of a consumer, whose path they would match.
for (const pages of [
  consumerCsv,
  ...formPages,
  ...statePages,
  revokeDevicePages,
  ...keyPages,
  removeIdentityPages,
  mergePages,
])
  consumerPages.route('/', pages)

consumerPages.get('/:consumer', page('consumers:read', { costly: true }), async (c) => {
  const tab = tabOf(c)
  return consumerPage(c, await readShownConsumer(c, tab), tab)
})
