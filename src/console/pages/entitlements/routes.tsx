import { Hono } from 'hono'
import { listFeatures } from '../../../catalog/features'
import { MAX_FEATURES } from '../../../catalog/limits'
import { namePlans } from '../../../catalog/plans'
import { type Consumer, findConsumer } from '../../../consumers/read'
import { batch, run } from '../../../db/client'
import { readFacts } from '../../../entitlements/answer'
import { grantOf } from '../../../entitlements/grant-fields'
import { findGrant, type Grant, insertGrant, listGrants, revokeGrant } from '../../../entitlements/grants'
import { factsOf } from '../../../entitlements/read'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { notFound, requireFound } from '../../../lib/fault'
import { action } from '../../action'
import { pageAsked } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { refusalOf } from '../../refusal'
import { placeOfConsumer } from '../consumers/parts'
import { readConsumer, readLiving, refIn } from '../consumers/read'
import { namesOf } from '../events/store'
import { GRANT, givenValue, grantPage, lastingEnd, utc } from './form'
import { grantsPage, whatOf } from './grants'
import { entitlementsIn, readEntitlementsAt, withSourceNames } from './read'
import { entitlementsPage } from './section'

/** What a consumer may do, or could do at another time: all features. */
export const entitlementPages = new Hono<HttpEnv>().get('/', page('entitlements:read', { costly: true }), async (c) => {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ref = refIn(c)
  const found = await readFacts(c, (extent) => ({
    ...factsOf(db, project, [ref], { keys: null, explained: true, ...extent }),
    rows: findConsumer(db, project, ref),
  }))
  const row = requireFound(found.rows, 'Consumer')
  const at = c.req.query('at') ?? ''
  try {
    const of = at === '' ? entitlementsIn(found) : await readEntitlementsAt(c, { ref: { id: row.id }, found }, utc(at))
    return entitlementsPage(c, row, { of: await withSourceNames(c, of), at })
  } catch (error) {
    return entitlementsPage(c, row, { of: entitlementsIn(found), at }, refusalOf(error))
  }
})

const create = action({
  at: '/new',
  posts: '/',
  needs: 'entitlements:write',
  read: async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const consumer = await readLiving(c)
    const { catalog, plans } = await batch(db, {
      catalog: listFeatures(db, project, { before: null, take: MAX_FEATURES }),
      plans: namePlans(db, project),
    })
    return { consumer, catalog, plans }
  },
  ask: grantPage,
  run: async (c) => {
    const { db, now } = c.get('rt')
    const { id } = await readLiving(c)
    const project = projectOf(c.get('actor'))
    const sent = c.get('form')
    const catalog = await run(db, listFeatures(db, project))
    const body = GRANT.body(sent, { consumer: id, ...givenValue(sent, catalog), ...lastingEnd(sent, now) })
    await insertGrant(db, { project_id: project, ref: { id } }, grantOf(body, now), changeOf(c))
    return id
  },
  done: (c, id) => [`${pathsOf(c).consumers}/${id}`, 'grant_created'],
})

const revoke = action({
  at: '/:grant/revoke',
  needs: 'entitlements:write',
  read: readGrant,
  ask: (c, { consumer, grant }) => ({
    ...placeOfConsumer(c, consumer).view,
    title: 'Revoke grant',
    question: `Revoke “${whatOf(grant)}”?`,
    says: (
      <p>
        {grant.effect === 'deny'
          ? 'The feature is no longer denied. The consumer has it again if a plan or another grant includes it.'
          : 'The consumer keeps only what its subscriptions and other grants include.'}{' '}
        This applies immediately. A revoked grant cannot be restored, but you can create another one.
      </p>
    ),
    verb: 'Revoke grant',
    danger: true,
  }),
  run: async (c) => {
    const { consumer, grant } = await readGrant(c)
    await revokeGrant(c.get('rt').db, projectOf(c.get('actor')), grant.id, changeOf(c))
    return consumer
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'grant_revoked'],
})

/** The grants of a consumer: list, grant or deny, revoke. */
export const grantPages = new Hono<HttpEnv>()
  .get('/', page('entitlements:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const ref = refIn(c)
    const { before, take, page } = paging(`console/grants/${c.req.param('consumer')}`, pageAsked(c))
    const { rows, grants } = await batch(db, {
      rows: findConsumer(db, project, ref),
      grants: listGrants(db, project, ref, { before, take }),
    })
    const row = requireFound(rows, 'Consumer')
    const list = page(grants, (grant) => grant)
    const names = await namesOf(
      c.get('rt'),
      project,
      list.data.map(({ actor }) => actor),
    )
    return grantsPage(c, row, list, names)
  })
  .route('/', create)
  .route('/', revoke)

/** Reads the grant in the path, and its consumer. @throws {Fault} `not_found` */
async function readGrant(c: Visit): Promise<{ consumer: Consumer; grant: Grant }> {
  const { db } = c.get('rt')
  const consumer = await readConsumer(c)
  const [grant] = await run(db, findGrant(db, projectOf(c.get('actor')), c.req.param('grant') ?? ''))
  if (grant?.consumer_id !== consumer.id) throw notFound('Grant')
  return { consumer, grant }
}
