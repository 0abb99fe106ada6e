import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer, tagged, taggedWith } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { boundedListOf, OrderName, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { setBlocked, updateConsumer } from './change'
import { eraseConsumer, findErasure } from './erase'
import { ErasureShown, notErased, presentErasure } from './erasure-fields'
import {
  BlockBody,
  ConsumerShown,
  ConsumerStateName,
  CreateConsumerBody,
  email,
  MergeBody,
  PutBody,
  presentConsumer,
  UnblockBody,
  UpdateConsumerBody,
} from './fields'
import { MAX_EXTERNAL_IDS } from './limits'
import { mergeConsumer } from './merge'
import { insertConsumer, upsertConsumer } from './put'
import { type Consumer, findConsumer, isConsumer, listConsumers, requireConsumer } from './read'
import { externalIdIn, refToChange, refToRead } from './ref'

const tag = 'Consumers'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'consumers:read', project: true, reads: true } as const
const mayErase = { actors, scope: 'consumers:erase', project: true, confirmed: true } as const
const mayWrite = { actors, scope: 'consumers:write', project: true } as const
const ListQuery = z.strictObject({
  ...pageFields,
  email: email.optional().describe('Without regard to case.'),
  state: ConsumerStateName.optional(),
  order: OrderName.optional().describe('By time of creation. `desc`, the newest first, if it is left out.'),
})

export const consumerRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createConsumer',
      summary: 'Create a consumer',
      description:
        'For a consumer that you cannot name yet, or must not exist. If you have an id of your own, `PUT /consumers/ext:…` is safe to repeat.',
      tag,
      policy: mayWrite,
      responses: { 201: taggedWith(ConsumerShown, 'The consumer.') },
      faults: ['external_id_taken', 'consumer_merged'],
      repeated: async (c, { object_id: id }) => {
        const found = findConsumer(c.get('rt').db, projectOf(c.get('actor')), { id })
        const row = requireConsumer((await read(c, { rows: found })).rows)
        return answer(c, tagged(c, row, presentConsumer(row)), 201)
      },
    }),
    body(CreateConsumerBody),
    async (c) => {
      const row = await insertConsumer(c.get('rt').db, projectOf(c.get('actor')), c.req.valid('json'), changeOf(c))
      return answer(c, tagged(c, row, presentConsumer(row)), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listConsumers',
      summary: 'List the consumers of the project',
      description:
        'Newest first by default, merged and erased consumers too. A page can end early if its consumers are large. A page with a filter looks at a limited number of consumers: `truncated` means that it reached the limit before it was full, and `next_cursor` continues from there.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of consumers.', schema: boundedListOf(ConsumerShown) } },
    }),
    query(ListQuery),
    async (c) => {
      const asked = c.req.valid('query')
      const list = paging<Pick<Consumer, 'id'>>('consumers', asked)
      const { rows } = await read(c, { rows: listConsumers(c.get('rt').db, projectOf(c.get('actor')), asked, list) })
      const consumers = rows.filter(isConsumer).map(({ part: _, ...row }) => row)
      const end = rows.find((row) => !isConsumer(row))
      const last = consumers.at(-1)
      // A consumer that no longer fits is on the next page, as one beyond the limit is.
      const page =
        end?.part === 'over' && last
          ? { ...list.upTo(consumers.map(presentConsumer), last.id), truncated: false }
          : list.stopped(list.page(consumers, presentConsumer), end?.id ?? null)
      return answer(c, page, 200)
    },
  )
  .put(
    '/:consumer',
    route({
      id: 'putConsumer',
      summary: 'Create or change the consumer with your own id',
      description:
        'The path names the consumer by `ext:` and your own id. If no consumer has this id, one is created. Fields that you leave out stay as they are. You can repeat the call.',
      tag,
      policy: mayWrite,
      responses: {
        200: taggedWith(ConsumerShown, 'The consumer was there.'),
        201: taggedWith(ConsumerShown, 'The consumer is new.'),
      },
      faults: ['not_found'],
    }),
    body(PutBody),
    async (c) => {
      const { db } = c.get('rt')
      const external_id = externalIdIn(c.req.param('consumer'))
      const fields = c.req.valid('json')
      const key = { project_id: projectOf(c.get('actor')), external_id }
      const { consumer, created } = await upsertConsumer(db, key, fields, changeOf(c))
      return answer(c, tagged(c, consumer, presentConsumer(consumer)), created ? 201 : 200)
    },
  )
  .patch(
    '/:consumer',
    route({
      id: 'updateConsumer',
      summary: 'Change a consumer, or give it another external id',
      description: `Fields that you leave out stay as they are. \`external_id\` adds an id; a consumer can have ${MAX_EXTERNAL_IDS}. The same values again change nothing.`,
      tag,
      policy: mayWrite,
      headers: { 'If-Match': 'An `ETag` of the consumer. If the consumer has changed since, nothing is written: 412.' },
      responses: { 200: taggedWith(ConsumerShown, 'The consumer.') },
      faults: [
        'not_found',
        'consumer_merged',
        'consumer_erased',
        'external_id_taken',
        'external_id_limit_reached',
        'precondition_failed',
      ],
    }),
    body(UpdateConsumerBody),
    async (c) => {
      const { db } = c.get('rt')
      const how = { ifMatch: c.req.header('If-Match'), ...changeOf(c) }
      const row = await updateConsumer(db, named(c), c.req.valid('json'), how)
      return answer(c, tagged(c, row, presentConsumer(row)), 200)
    },
  )
  .post(
    '/:consumer/block',
    route({
      id: 'blockConsumer',
      summary: 'Block a consumer',
      description:
        'Nothing is deleted, and the consumer can still be changed. Repeating the call changes nothing, unless it has another reason.',
      tag,
      policy: mayWrite,
      responses: { 200: taggedWith(ConsumerShown, 'The consumer.') },
      faults: ['not_found', 'consumer_merged', 'consumer_erased'],
    }),
    body(BlockBody),
    async (c) => {
      const { reason = null } = c.req.valid('json')
      const row = await setBlocked(c.get('rt').db, named(c), { blocked: true, reason }, changeOf(c))
      return answer(c, tagged(c, row, presentConsumer(row)), 200)
    },
  )
  .post(
    '/:consumer/unblock',
    route({
      id: 'unblockConsumer',
      summary: 'Unblock a consumer',
      description: 'Repeating the call changes nothing.',
      tag,
      policy: mayWrite,
      responses: { 200: taggedWith(ConsumerShown, 'The consumer.') },
      faults: ['not_found', 'consumer_merged', 'consumer_erased'],
    }),
    body(UnblockBody),
    async (c) => {
      const { reason = null } = c.req.valid('json')
      const row = await setBlocked(c.get('rt').db, named(c), { blocked: false, reason }, changeOf(c))
      return answer(c, tagged(c, row, presentConsumer(row)), 200)
    },
  )
  .post(
    '/:consumer/merge',
    route({
      id: 'mergeConsumer',
      summary: 'Merge a consumer into another one',
      description:
        'For two consumers that are the same person. The consumer in the path ends. The one in `into` keeps its own fields, and gets the external ids, the pinned customers, the devices and the grants of the other one. This cannot be undone.',
      tag,
      policy: mayWrite,
      responses: { 200: taggedWith(ConsumerShown, 'The consumer that stays.') },
      faults: ['not_found', 'consumer_merged', 'consumer_erased', 'external_id_limit_reached', 'merge_limit_reached'],
    }),
    body(MergeBody),
    async (c) => {
      const into = refToChange(c.req.valid('json').into)
      const row = await mergeConsumer(c.get('rt').db, named(c), into, changeOf(c))
      return answer(c, tagged(c, row, presentConsumer(row)), 200)
    },
  )
  .delete(
    '/:consumer',
    route({
      id: 'eraseConsumer',
      summary: 'Erase a consumer',
      description:
        'All fields that you can set, and the external ids, are gone when the response is sent. What your vendors have sent about the customers of the consumer is deleted afterwards: `GET …/erasure` says when it is done. This cannot be undone. Repeating the call with the id of the consumer returns the same erasure.',
      tag,
      policy: mayErase,
      responses: { 202: { description: 'The erasure.', schema: ErasureShown } },
      faults: ['not_found', 'consumer_merged'],
    }),
    async (c) => answer(c, presentErasure(await eraseConsumer(c.get('rt'), named(c), changeOf(c))), 202),
  )
  .get(
    '/:consumer/erasure',
    route({
      id: 'getErasure',
      summary: 'Get the erasure of a consumer',
      description: 'Name the consumer by its id, because its external ids are gone.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The erasure.', schema: ErasureShown } },
      faults: ['not_found', 'consumer_merged'],
    }),
    async (c) => {
      const ref = refToRead(c.req.param('consumer'))
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const found = await read(c, { rows: findConsumer(db, project, ref), erasure: findErasure(db, project, ref) })
      requireConsumer(found.rows)
      const [erasure] = found.erasure
      if (!erasure) throw notErased()
      return answer(c, presentErasure(erasure), 200)
    },
  )

/** The consumer that the path of a change names. */
function named(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), ref: refToChange(c.req.param('consumer') ?? '') }
}
