import { type Context, Hono } from 'hono'
import type * as z from 'zod'
import { setBlocked, updateConsumer } from '../../../consumers/change'
import { eraseConsumer } from '../../../consumers/erase'
import {
  BlockBody,
  CreateConsumerBody,
  fieldsOf,
  MergeBody,
  UnblockBody,
  UpdateConsumerBody,
} from '../../../consumers/fields'
import { mergeConsumer } from '../../../consumers/merge'
import { insertConsumer } from '../../../consumers/put'
import { type Consumer, changeable } from '../../../consumers/read'
import { refToChange } from '../../../consumers/ref'
import { CONSUMER_STATES } from '../../../consumers/schema'
import { revokeDevice } from '../../../devices/revoke'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { deleteIdentity } from '../../../sso/identities/identities'
import { page, pathsOf } from '../../page'
import { parse } from '../../refusal'
import type { NoticeName } from '../../ui/notice'
import { blockPage, unblockPage } from './confirm'
import { consumerPage } from './consumer'
import { createPage } from './create'
import { revokePage } from './devices'
import { editPage } from './edit'
import { erasePage, typedFor } from './erase'
import { enteredFrom, enteredIn, metadataIn } from './fields'
import { findTyped, listFound } from './find'
import { removeIdentityPage } from './identities'
import { listPage } from './list'
import { confirmMergePage, mergePage } from './merge'
import { readConsumer, readDevice, readIdentity, readMoving, readShown } from './read'
import { refusedBecause } from './refusal'

/** Consumers: find, create, look at, edit, block, merge. */
export const consumerPages = new Hono<HttpEnv>()
  .get('/', page('consumers:read'), async (c) => {
    const state = CONSUMER_STATES.find((name) => name === c.req.query('state'))
    const asked = { q: (c.req.query('q') ?? '').trim(), state }
    const found = await listFound(c, asked)
    const [one, another] = found.data
    const only = asked.q !== '' && state === undefined && another === undefined && !found.has_more
    return one && only ? c.redirect(`${pathsOf(c).consumers}/${one.id}`, 303) : listPage(c, asked, found)
  })
  .get('/new', page('consumers:write'), (c) => createPage(c))
  .post('/', page('consumers:write'), async (c) => {
    const { db, now } = c.get('rt')
    const entered = enteredIn(c.get('form'))
    try {
      const { external_id, email, name } = entered
      const filled = Object.entries({ external_id, email, name }).filter(([, text]) => text !== '')
      const body = parse(CreateConsumerBody, { ...Object.fromEntries(filled), metadata: metadataIn(entered.metadata) })
      const { id } = await insertConsumer(db, projectOf(c.get('actor')), fieldsOf(body), now)
      return toConsumer(c, id, 'consumer_created')
    } catch (error) {
      return createPage(c, entered, refusedBecause(error))
    }
  })
  .get('/:consumer', page('consumers:read'), async (c) => consumerPage(c, await readShown(c)))
  .get('/:consumer/edit', page('consumers:write'), async (c) => {
    const row = await readLiving(c)
    return editPage(c, row, enteredFrom(row))
  })
  .post('/:consumer/edit', page('consumers:write'), async (c) => {
    const { db, now } = c.get('rt')
    const form = c.get('form')
    const entered = enteredIn(form)
    try {
      const { external_id, email, name } = entered
      const body = parse(UpdateConsumerBody, {
        email: email || null,
        name: name || null,
        metadata: metadataIn(entered.metadata),
        ...(external_id !== '' && { external_id }),
      })
      const { id } = await updateConsumer(db, named(c), fieldsOf(body), { ifMatch: form.get('etag') ?? '', now })
      return toConsumer(c, id, 'consumer_changed')
    } catch (error) {
      const refusal = refusedBecause(error)
      return editPage(c, await readLiving(c), entered, refusal)
    }
  })
  .get('/:consumer/block', page('consumers:write'), async (c) => blockPage(c, await readLiving(c)))
  .post('/:consumer/block', page('consumers:write'), async (c) => {
    try {
      const to = { blocked: true, reason: reasonIn(c, BlockBody) }
      const { id } = await setBlocked(c.get('rt').db, named(c), to, changeOf(c))
      return toConsumer(c, id, 'consumer_blocked')
    } catch (error) {
      const refusal = refusedBecause(error)
      return blockPage(c, await readLiving(c), refusal)
    }
  })
  .get('/:consumer/unblock', page('consumers:write'), async (c) => unblockPage(c, await readLiving(c)))
  .post('/:consumer/unblock', page('consumers:write'), async (c) => {
    try {
      const to = { blocked: false, reason: reasonIn(c, UnblockBody) }
      const { id } = await setBlocked(c.get('rt').db, named(c), to, changeOf(c))
      return toConsumer(c, id, 'consumer_unblocked')
    } catch (error) {
      const refusal = refusedBecause(error)
      return unblockPage(c, await readLiving(c), refusal)
    }
  })
  .get('/:consumer/devices/:device/revoke', page('consumers:write'), async (c) => {
    const row = await readLiving(c)
    return revokePage(c, row, await readDevice(c, row))
  })
  .post('/:consumer/devices/:device/revoke', page('consumers:write'), async (c) => {
    await revokeDevice(c.get('rt').db, { ...named(c), id: c.req.param('device') }, changeOf(c))
    return toConsumer(c, c.req.param('consumer'), 'device_revoked')
  })
  .get('/:consumer/identities/:identity/remove', page('sso:write'), async (c) => {
    const row = await readConsumer(c)
    return removeIdentityPage(c, row, await readIdentity(c, row))
  })
  .post('/:consumer/identities/:identity/remove', page('sso:write'), async (c) => {
    const { id } = await readIdentity(c, await readConsumer(c))
    await deleteIdentity(c.get('rt').directory, projectOf(c.get('actor')), id, changeOf(c))
    return toConsumer(c, c.req.param('consumer'), 'identity_removed')
  })
  .get('/:consumer/erase', page('consumers:erase'), async (c) => erasePage(c, await readLiving(c)))
  .post('/:consumer/erase', page('consumers:erase'), async (c) => {
    const row = await readLiving(c)
    const typed = (c.get('form').get('typed') ?? '').trim()
    if (typed !== typedFor(row)) {
      const mistakes = { typed: 'This is not the ID of the consumer. Nothing was erased.' }
      return erasePage(c, row, { mistakes, status: 422 })
    }
    await eraseConsumer(c.get('rt'), { project_id: projectOf(c.get('actor')), ref: { id: row.id } }, changeOf(c))
    return toConsumer(c, row.id, 'consumer_erased')
  })
  .get('/:consumer/merge', page('consumers:write'), async (c) => {
    const from = await readLiving(c)
    const text = (c.req.query('into') ?? '').trim()
    const found = text === '' ? [] : await findTyped(c, text)
    const others = found.filter(({ id, state }) => id !== from.id && state !== 'merged' && state !== 'erased')
    const [into] = others
    if (into && others.length === 1) {
      return confirmMergePage(c, { from, into, moving: await readMoving(c, from) })
    }
    const mistakes = text !== '' && !into ? { into: whyNot(found, from) } : {}
    return mergePage(c, from, { text, found: others, mistakes })
  })
  .post('/:consumer/merge', page('consumers:write'), async (c) => {
    const { db } = c.get('rt')
    const sent = c.get('form').get('into') ?? ''
    try {
      const { into } = parse(MergeBody, { into: sent })
      const { id } = await mergeConsumer(db, named(c), refToChange(into), changeOf(c))
      return toConsumer(c, id, 'consumer_merged')
    } catch (error) {
      const { mistakes } = refusedBecause(error)
      const into = mistakes.form ?? mistakes.into ?? ''
      return mergePage(c, await readLiving(c), { text: sent, found: [], mistakes: { into } })
    }
  })

/** Why none of the consumers that a typed text means can be the one that stays. */
function whyNot(found: Consumer[], from: Consumer): string {
  const merged = found.find(({ merged_into }) => merged_into !== null)
  if (found.some(({ id }) => id === from.id)) return 'This is the consumer itself. Name the other one.'
  if (merged) return `This consumer was merged into ${merged.merged_into}. Use that one.`
  return 'No consumer has this ID or email address.'
}

/** The consumer that the path of a change names. */
function named(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), ref: refToChange(c.req.param('consumer') ?? '') }
}

/** Reads the consumer in the path. @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased` */
async function readLiving(c: Context<HttpEnv>): Promise<Consumer> {
  return changeable([await readConsumer(c)])
}

/** The reason in a form; null if there is none. */
function reasonIn(c: Context<HttpEnv>, body: z.ZodType<{ reason?: string | undefined }>): string | null {
  const text = (c.get('form').get('reason') ?? '').trim()
  return parse(body, text === '' ? {} : { reason: text }).reason ?? null
}

function toConsumer(c: Context<HttpEnv>, id: string, done: NoticeName) {
  return c.redirect(`${pathsOf(c).consumers}/${encodeURIComponent(id)}?done=${done}`, 303)
}
