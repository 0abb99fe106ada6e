import { type Context, Hono } from 'hono'
import type * as z from 'zod'
import { MAX_CATALOG_BYTES } from '../catalog/limits'
import { presentLink } from '../consumers/customer-fields'
import { customersOf } from '../consumers/links'
import { findConsumer, requireConsumer } from '../consumers/read'
import { type ConsumerRef, refOf, refToRead } from '../consumers/ref'
import type { Results } from '../db/client'
import { answer } from '../http/answer'
import { sendInRoom } from '../http/answering'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { etagOfContents, isUnchanged } from '../http/etag'
import type { Answering } from '../http/meta'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { iso } from '../lib/time'
import { answerFacts, bytesOfValues } from './answer'
import { historySince, holderAt, NOT_KNOWN_AHEAD, timeAsked } from './at'
import { explainAsked, presentAsked } from './explain'
import { CheckBody, CheckedEntitlements, EntitlementsQuery, EntitlementsShown } from './fields'
import { factsIn } from './holders'
import { MAX_ASKED_FEATURES, MAX_CONSUMERS, MAX_EXPLANATION_BYTES, MAX_SOURCES, MAX_SUBSCRIPTION_ITEMS } from './limits'
import { type Extent, factsOf } from './read'

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
    const project = projectOf(c.get('actor'))
    const refs = consumers.map(refOf)
    const facts = (extent: Extent) => factsOf(c.get('rt').db, project, refs, { keys: features, ...extent })
    return answerFacts(c, facts, (found) => {
      const { now, catalog, holders } = factsIn(found, consumers.length)
      const data = holders.map((holder, place) => ({
        consumer: consumers[place] ?? '',
        consumer_id: holder.id,
        features: presentAsked(features, holder, catalog, now),
      }))
      const values = data.flatMap((one) => Object.values(one.features).map(({ value }) => value))
      return { bytes: bytesOfValues(values), send: () => answer(c, { as_of: iso(now), data }, 200) }
    })
  },
)

export const consumerEntitlementRoutes = new Hono<HttpEnv>().get(
  '/:consumer/entitlements',
  route({
    id: 'getEntitlements',
    summary: 'Get all entitlements of a consumer',
    description:
      'Every feature of the catalog, or the ones named with `feature`. With `explain=true`, everything that could give each one, down to the recorded events. With `at`, as it was then, or as it will be. An unknown feature is an answer, not an error.',
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
    const { explain: explained, at, feature: asked = null } = c.req.valid('query')
    const project = projectOf(c.get('actor'))
    const { db, now } = c.get('rt')
    const ref = refToRead(c.req.param('consumer'))
    const time = at === undefined ? null : timeAsked(at, now)
    if (time !== null && time <= now)
      return sendInRoom(c, MAX_CATALOG_BYTES, async () =>
        shown(c, await hadAt(c, ref, time), { asked, explained }).send(),
      )
    const facts = (extent: Extent) => ({
      ...factsOf(db, project, [ref], { keys: asked, explained, ...extent }),
      consumer: findConsumer(db, project, ref),
      links: customersOf(db, project, ref),
    })
    const make = (found: Results<ReturnType<typeof facts>>) => shown(c, hadNow(found, time), { asked, explained })
    return answerFacts(c, facts, make, explained ? MAX_EXPLANATION_BYTES : 0)
  },
)

/** What a consumer has. `missing`: of another time, what is not known, in words. */
type Had = ReturnType<typeof hadNow> | Awaited<ReturnType<typeof hadAt>>
type Shown = z.infer<typeof EntitlementsShown>
type Answering200 = Context<
  HttpEnv,
  string,
  Answering<{ 200: { description: string; schema: typeof EntitlementsShown }; 304: { description: string } }>
>

/** The answer, and about how many bytes it has. `asked`: keys of features; null for all of them. */
function shown(
  c: Answering200,
  { id, links, holder, catalog, now, missing }: Had,
  { asked, explained }: { asked: readonly string[] | null; explained: boolean },
) {
  const present = explained ? explainAsked : presentAsked
  const features: Shown['features'] = present(asked ?? [...catalog.byKey.keys()], holder, catalog, now)
  const contents = {
    consumer: c.req.param('consumer') ?? '',
    consumer_id: id,
    features,
    ...(missing && { exact: missing.length === 0, missing: [...missing] }),
    ...(explained && { customers: links.map(presentLink) }),
  }
  const send = async () => {
    const etag = await etagOfContents(contents)
    c.header('ETag', etag)
    if (isUnchanged(c.req.header('If-None-Match'), etag)) return answer(c, null, 304)
    return answer(c, { as_of: iso(now), ...contents }, 200)
  }
  return { bytes: bytesOfValues(Object.values(features).map(({ value }) => value)), send }
}

/** What a consumer has now, or will have at a later time if nothing happens before it. @throws {Fault} `not_found`, `consumer_merged` */
function hadNow(found: Results<ReturnType<typeof factsOf> & ConsumerRead>, ahead: number | null) {
  const { id } = requireConsumer(found.consumer)
  const { now, catalog, holders } = factsIn(found, 1)
  const [holder = { id, state: null, subscriptions: [], purchases: [], grants: [] }] = holders
  return {
    id,
    links: found.links,
    holder,
    catalog,
    now: ahead ?? now,
    missing: ahead === null ? undefined : NOT_KNOWN_AHEAD,
  }
}

type ConsumerRead = { consumer: ReturnType<typeof findConsumer>; links: ReturnType<typeof customersOf> }

/** What a consumer had at a time. @throws {Fault} `not_found`, `consumer_merged` */
async function hadAt(c: Context<HttpEnv>, ref: ConsumerRef, at: number) {
  const { db, now, settings } = c.get('rt')
  const keptSince = historySince({ settings, now })
  const named = { project_id: projectOf(c.get('actor')), ref }
  const past = await holderAt({ db, ask: (queries) => read(c, queries), keptSince }, named, at)
  return { ...past, id: past.consumer.id, now: at }
}
