import { type Context, Hono } from 'hono'
import { presentLink } from '../consumers/customer-fields'
import { customersOf } from '../consumers/links'
import { findConsumer, requireConsumer } from '../consumers/read'
import { type ConsumerRef, refOf, refToRead } from '../consumers/ref'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { etagOfContents, isUnchanged } from '../http/etag'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { DAY, iso } from '../lib/time'
import { holderAt, timeAsked } from './at'
import { explain, presentAsked, presentEntitlement, requireExplainable } from './explain'
import { CheckBody, CheckedEntitlements, EntitlementsQuery, EntitlementsShown } from './fields'
import { factsIn } from './holders'
import { MAX_ASKED_FEATURES, MAX_CONSUMERS, MAX_SOURCES, MAX_SUBSCRIPTION_ITEMS } from './limits'
import { factsOf } from './read'
import { resolve } from './resolve'

const tag = 'Entitlements'
const policy = { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true } as const

export const checkRoutes = new Hono<HttpEnv>().post(
  '/check',
  route({
    id: 'checkEntitlements',
    summary: 'Ask what consumers may do',
    description: `Up to ${MAX_CONSUMERS} consumers and ${MAX_ASKED_FEATURES} features. An unknown consumer or feature is an answer, not an error. If the consumers have more than ${MAX_SOURCES} subscriptions or grants, or ${MAX_SUBSCRIPTION_ITEMS} items of subscriptions, the call is refused.`,
    tag,
    policy,
    responses: { 200: { description: 'What each consumer may do.', schema: CheckedEntitlements } },
    faults: ['payload_too_large'],
  }),
  body(CheckBody),
  async (c) => {
    const { consumers, features } = c.req.valid('json')
    const facts = factsOf(c.get('rt').db, projectOf(c.get('actor')), consumers.map(refOf), features)
    const { now, catalog, holders } = factsIn(await read(c, facts), consumers.length)
    const data = holders.map((holder, place) => ({
      consumer: consumers[place] ?? '',
      consumer_id: holder.id,
      features: presentAsked(features, holder, catalog, now),
    }))
    return answer(c, { as_of: iso(now), data }, 200)
  },
)

export const consumerEntitlementRoutes = new Hono<HttpEnv>().get(
  '/:consumer/entitlements',
  route({
    id: 'getEntitlements',
    summary: 'Get all entitlements of a consumer',
    description:
      'Every feature of the catalog. With `explain=true`, everything that could give it, down to the recorded events. With `at`, as it was then.',
    tag,
    policy: { ...policy, costly: ['explain', 'at'] },
    headers: { 'If-None-Match': 'An `ETag` of an earlier response. If nothing but the time has changed: 304.' },
    responses: {
      200: { description: 'The entitlements.', schema: EntitlementsShown, etag: true },
      304: { description: 'They have not changed.' },
    },
    faults: ['not_found', 'consumer_merged', 'payload_too_large'],
  }),
  query(EntitlementsQuery),
  async (c) => {
    const { explain: explained, at } = c.req.valid('query')
    const consumer = c.req.param('consumer')
    const ref = refToRead(consumer)
    const { id, links, holder, catalog, now, missing } =
      at === undefined ? await readNow(c, ref) : await readAt(c, ref, at)
    if (explained) requireExplainable(catalog, holder)
    const features = catalog.features.map(({ key }) => {
      const one = resolve(key, holder, catalog, now)
      return [
        key,
        { ...presentEntitlement(one), ...(explained && { sources: explain(key, one, holder, now) }) },
      ] as const
    })
    const contents = {
      consumer,
      consumer_id: id,
      features: Object.fromEntries(features),
      ...(missing && { exact: missing.length === 0, missing }),
      ...(explained && { customers: links.map(presentLink) }),
    }
    const etag = await etagOfContents(contents)
    c.header('ETag', etag)
    if (isUnchanged(c.req.header('If-None-Match'), etag)) return answer(c, null, 304)
    return answer(c, { as_of: iso(now), ...contents }, 200)
  },
)

/** What a consumer has now. */
async function readNow(c: Context<HttpEnv>, ref: ConsumerRef) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const found = await read(c, {
    ...factsOf(db, project, [ref], null),
    consumer: findConsumer(db, project, ref),
    links: customersOf(db, project, ref),
  })
  const { id } = requireConsumer(found.consumer)
  const { now, catalog, holders } = factsIn(found, 1)
  const [holder = { id, state: null, subscriptions: [], grants: [] }] = holders
  return { id, links: found.links, holder, catalog, now, missing: undefined }
}

/** What a consumer had at a time. @throws {Fault} `validation_failed` for a time that cannot be asked about */
async function readAt(c: Context<HttpEnv>, ref: ConsumerRef, time: string) {
  const { db, now, settings } = c.get('rt')
  const at = timeAsked(time, now)
  const keptSince = now - settings.recordRetentionDays * DAY
  const named = { project_id: projectOf(c.get('actor')), ref }
  const past = await holderAt({ db, ask: (queries) => read(c, queries), keptSince }, named, at)
  return { ...past, id: past.consumer.id, now: at }
}
