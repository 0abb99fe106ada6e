import { Hono } from 'hono'
import { CONSUMER_STATES } from '../../../consumers/schema'
import type { HttpEnv } from '../../../http/context'
import { page, pathsOf } from '../../page'
import { consumerPage } from './consumer'
import { revokeDevicePages } from './devices'
import { listFound } from './find'
import { formPages } from './form'
import { removeIdentityPages } from './identities'
import { keyPages } from './key-pages'
import { listPage } from './list'
import { mergePages } from './merge'
import { readShownConsumer } from './read'
import { statePages } from './state'

/** Consumers: find, create, look at, edit, block, merge. */
export const consumerPages = new Hono<HttpEnv>().get('/', page('consumers:read'), async (c) => {
  const state = CONSUMER_STATES.find((name) => name === c.req.query('state'))
  const asked = { q: (c.req.query('q') ?? '').trim(), state }
  const found = await listFound(c, asked)
  const [one, another] = found.data
  const only = asked.q !== '' && state === undefined && another === undefined && !found.has_more
  return one && only ? c.redirect(`${pathsOf(c).consumers}/${one.id}`, 303) : listPage(c, asked, found)
})

for (const pages of [...formPages, ...statePages, revokeDevicePages, ...keyPages, removeIdentityPages, mergePages])
  consumerPages.route('/', pages)

// This comes after the page of a new consumer, whose path it would match.
consumerPages.get('/:consumer', page('consumers:read', { costly: true }), async (c) =>
  consumerPage(c, await readShownConsumer(c)),
)
