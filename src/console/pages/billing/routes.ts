import { Hono } from 'hono'
import { customerOf, ofCustomer } from '../../../billing/customers/read'
import { noObject } from '../../../billing/names'
import { presentObject } from '../../../billing/read/present'
import { findObject, findOverdue, findSubscriptionOf } from '../../../billing/read/store'
import { findLink, type Link } from '../../../consumers/links'
import { batch, type Queries, type Results, type Send } from '../../../db/client'
import { ofPurchase, purchaseGives } from '../../../entitlements/given'
import { findNamed, findOwner, plansIn } from '../../../entitlements/named'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { eventsOfCustomer } from '../../../inbox/events/of-customer'
import { findSourceKeys } from '../../../inbox/refresh/keys'
import { readTimeline } from '../../../inbox/timeline/read'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { withoutGuest } from '../../../vendors/guest'
import { changed, pageAsked } from '../../list'
import { withMode } from '../../mode'
import { page, type Visit } from '../../page'
import { choosePage, meantBy } from './choose'
import { billingPath } from './columns'
import { objectCsv } from './csv'
import { customerPage } from './customer'
import { addressOf, askedIn, findListed, namesIn } from './find'
import { invoices } from './invoices'
import { listPage } from './list'
import { type Detail, objectDetail } from './object'
import type { ObjectList } from './object-list'
import { paymentMethods } from './payment-methods'
import { purchases } from './purchases'
import { subscriptions } from './subscriptions'
import { titlesOf } from './title'

/** The number of events in a timeline. */
const EVENTS = 100

/** The billing state: subscriptions, invoices, payment methods and purchases, built from the vendors' events. */
export const billingPages = new Hono<HttpEnv>()
  .route('/', pagesOf(subscriptions))
  .route('/', pagesOf(invoices, invoicePage))
  .route('/', pagesOf(paymentMethods))
  .route('/', pagesOf(purchases, purchasePage))
  .get('/customers/:vendor/:customer', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const key = { vendor: c.req.param('vendor'), id: c.req.param('customer') }
    const project = projectOf(c.get('actor'))
    const { links, keys, owners, types, ...found } = await batch(db, {
      ...ofCustomer(db, project, key, plansIn(project)),
      links: findLink(db, project, key),
      keys: findSourceKeys(db, project, key.vendor),
      owners: findOwner(db, project, key),
      types: eventsOfCustomer(db, project, key),
    })
    const link = links[0] as Link
    const customer = customerOf(key, found, link)
    if (customer === null) throw noObject('customer')
    return customerPage(c, customer, {
      link,
      consumer: owners[0]?.owner.consumer?.title,
      typeOf: new Map(types.map(({ id, type }) => [id, type])),
      namesOf: namesIn([...found.subscriptions, ...found.purchases]),
      refreshes: keys.length > 0 && !link.erased && withoutGuest(key.vendor, key.id) !== null,
    })
  })

/** The pages of one kind: the list, and the page of one object. */
function pagesOf<K extends ObjectKind>(list: ObjectList<K>, shown = (c: Visit) => objectPage(c, list)) {
  return new Hono<HttpEnv>()
    .get(`/${list.path}`, page('billing:read'), async (c) => {
      const text = c.req.query('q')?.trim() ?? ''
      const query = addressOf(withMode(c), list.kind)
      if (text !== '') {
        const meant = await meantBy(c, list.kind, text)
        if ('choices' in meant) return choosePage(c, { list, query, text, ...meant })
        if ('object' in meant) return c.redirect(billingPath(c, list.path, meant.object), 303)
        return c.redirect(c.req.path + changed(query, meant.filter), 303)
      }
      const asked = askedIn(query, list.kind, c.get('rt').now)
      return listPage(c, list, { asked, query }, await findListed(c, list, asked, { ...pageAsked(c), counts: true }))
    })
    .route('/', objectCsv(list))
    .get(`/${list.path}/:object`, page('billing:read'), shown)
}

async function objectPage<K extends ObjectKind>(c: Visit, list: ObjectList<K>) {
  return objectDetail(c, list, (await one(c, list, {})).detail)
}

/** An invoice, with what its subscription is called. */
async function invoicePage(c: Visit) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const key = { id: c.req.param('object') ?? '', vendor: c.req.query('vendor') }
  const { detail, found } = await one(c, invoices, {
    subscriptions: findSubscriptionOf(db, project, key, plansIn(project)),
  })
  return objectDetail(c, invoices, { ...detail, titles: titlesOf(found.subscriptions) })
}

/** A purchase, with what it gives. */
async function purchasePage(c: Visit) {
  const key = { id: c.req.param('object') ?? '', vendor: c.req.query('vendor') }
  const { detail, found } = await one(c, purchases, ofPurchase(c.get('rt').db, projectOf(c.get('actor')), key))
  const gives = purchaseGives(found, detail.named?.consumer ?? null)
  return objectDetail(c, purchases, { ...detail, gives })
}

/** Reads the object in the path. @param more statements for the same trip, whose results are `found` */
async function one<K extends ObjectKind, Q extends Queries>(c: Visit, { kind }: ObjectList<K>, more: Q) {
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const id = c.req.param('object') ?? ''
  const key = { kind, id, vendor: c.req.query('vendor') }
  const send: Send = (queries) => batch(db, queries)
  const own = {
    objects: findObject(db, project, key),
    named: findNamed(db, project, key),
    overdue: findOverdue(db, project, key, now),
  }
  const asked = { from: null, limit: EVENTS }
  const { page, found } = await readTimeline({ db, send, project }, { kind, id }, asked, { ...own, ...more })
  const { objects, named, overdue } = found as Results<typeof own>
  if (!objects[0]?.body) throw noObject(kind)
  const detail: Detail = {
    object: presentObject(kind, objects[0]),
    named: named[0]?.named,
    isOverdue: overdue.length > 0,
    timeline: page,
  }
  return { detail, found }
}
