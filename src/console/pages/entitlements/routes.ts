import { type Context, Hono } from 'hono'
import { listFeatures } from '../../../catalog/features'
import { MAX_FEATURES, MAX_PLANS } from '../../../catalog/limits'
import { listPlans, withPrices } from '../../../catalog/plans'
import { type Consumer, changeable, findConsumer } from '../../../consumers/read'
import { batch, run } from '../../../db/client'
import { GrantBody, grantOf } from '../../../entitlements/grant-fields'
import { findGrant, type Grant, insertGrant, listGrants, revokeGrant } from '../../../entitlements/grants'
import { factsOf } from '../../../entitlements/read'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { notFound, requireFound } from '../../../lib/fault'
import { readList } from '../../list'
import { page, pathsOf } from '../../page'
import { parse } from '../../refusal'
import type { NoticeName } from '../../ui/notice'
import { readConsumer, refIn } from '../consumers/read'
import { refusedBecause } from '../consumers/refusal'
import { bodyIn, type Entered, enteredIn, grantPage, utc } from './form'
import { grantsPage, revokePage } from './grants'
import { entitlementsPage } from './page'
import { entitlementsIn, readEntitlementsAt } from './read'

/** What a consumer may do, or could do at an earlier time: all features. */
export const entitlementPages = new Hono<HttpEnv>().get('/', page('entitlements:read'), async (c) => {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ref = refIn(c)
  const found = await batch(db, { ...factsOf(db, project, [ref], null), rows: findConsumer(db, project, ref) })
  const row = requireFound(found.rows, 'Consumer')
  const at = c.req.query('at') ?? ''
  try {
    const of = at === '' ? entitlementsIn(found) : await readEntitlementsAt(c, { id: row.id }, utc(at))
    return entitlementsPage(c, row, { of, at })
  } catch (error) {
    return entitlementsPage(c, row, { of: entitlementsIn(found), at }, refusedBecause(error))
  }
})

/** The grants of a consumer: list, grant or deny, revoke. */
export const grantPages = new Hono<HttpEnv>()
  .get('/', page('entitlements:read'), async (c) => {
    const { db } = c.get('rt')
    const row = await readConsumer(c)
    const project = projectOf(c.get('actor'))
    const list = await readList(c, `grants/${row.id}`, (before, take) =>
      run(db, listGrants(db, project, { id: row.id }, { before, take })),
    )
    return grantsPage(c, row, list)
  })
  .get('/new', page('entitlements:write'), async (c) => again(c, await readLiving(c), enteredIn(new URLSearchParams())))
  .post('/', page('entitlements:write'), async (c) => {
    const { db, now } = c.get('rt')
    const row = await readLiving(c)
    const project = projectOf(c.get('actor'))
    const entered = enteredIn(c.get('form'))
    try {
      const catalog = await run(db, listFeatures(db, project))
      const body = parse(GrantBody, bodyIn(entered, row.id, catalog))
      await insertGrant(db, { project_id: project, ref: { id: row.id } }, grantOf(body, now), changeOf(c))
      return toConsumer(c, row, 'grant_created')
    } catch (error) {
      return again(c, row, entered, refusedBecause(error))
    }
  })
  .get('/:grant/revoke', page('entitlements:write'), async (c) => {
    const row = await readConsumer(c)
    return revokePage(c, row, await readGrant(c, row))
  })
  .post('/:grant/revoke', page('entitlements:write'), async (c) => {
    const row = await readConsumer(c)
    const { id } = await readGrant(c, row)
    await revokeGrant(c.get('rt').db, projectOf(c.get('actor')), id, changeOf(c))
    return toConsumer(c, row, 'grant_revoked')
  })

/** The form of a grant, as it was filled in. */
async function again(
  c: Context<HttpEnv>,
  row: Consumer,
  entered: Entered,
  refusal?: ReturnType<typeof refusedBecause>,
) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { catalog, plans } = await batch(db, {
    catalog: listFeatures(db, project, { before: null, take: MAX_FEATURES }),
    plans: listPlans(db, project, { before: null, take: MAX_PLANS }),
  })
  return grantPage(c, row, { catalog, plans: withPrices(plans, []), entered }, refusal)
}

/** Reads the consumer in the path. @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased` */
async function readLiving(c: Context<HttpEnv>): Promise<Consumer> {
  return changeable([await readConsumer(c)])
}

/** Reads a grant of the consumer. @throws {Fault} `not_found` */
async function readGrant(c: Context<HttpEnv>, { id }: Consumer): Promise<Grant> {
  const { db } = c.get('rt')
  const [grant] = await run(db, findGrant(db, projectOf(c.get('actor')), c.req.param('grant') ?? ''))
  if (grant?.consumer_id !== id) throw notFound('Grant')
  return grant
}

function toConsumer(c: Context<HttpEnv>, { id }: Consumer, done: NoticeName) {
  return c.redirect(`${pathsOf(c).consumers}/${id}?done=${done}`, 303)
}
