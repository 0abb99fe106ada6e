import { type Context, Hono } from 'hono'
import { objectPage } from '../../../billing/page'
import { type Presented, present } from '../../../billing/present'
import { findObject } from '../../../billing/store'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { readTimeline } from '../../../inbox/events/timeline'
import { Fault } from '../../../lib/fault'
import { pageAsked } from '../../list'
import { page } from '../../page'
import { invoices } from './invoices'
import { listPage } from './list'
import { objectDetail } from './object'
import type { ObjectList } from './object-list'
import { paymentMethods } from './payment-methods'
import { subscriptions } from './subscriptions'

/** The number of events in a timeline. */
const EVENTS = 100

/** The billing state: subscriptions, invoices and payment methods, built from the vendors' events. */
export const billingPages = new Hono<HttpEnv>()
  .route('/', pagesOf(subscriptions))
  .route('/', pagesOf(invoices))
  .route('/', pagesOf(paymentMethods))

/** The pages of one kind: the list, and the page of one object. */
function pagesOf<Row extends Presented>(list: ObjectList<Row>) {
  return new Hono<HttpEnv>()
    .get(`/${list.path}`, page('billing:read'), async (c) => {
      const [customer, status] = [c.req.query('customer') || undefined, c.req.query('status') || undefined]
      const asked = { customer, status, ...pageAsked(c) }
      const found = await objectPage(c.get('rt').db, projectOf(c.get('actor')), list.kind, asked)
      return listPage(c, list, asked, found as Page<Row> & { truncated: boolean })
    })
    .get(`/${list.path}/:object`, page('billing:read'), (c) => one(c, list))
}

async function one<Row extends Presented>(c: Context<HttpEnv>, list: ObjectList<Row>) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const id = c.req.param('object') ?? ''
  const [row, timeline] = await Promise.all([
    findObject(db, project, list.kind, id, c.req.query('vendor')),
    readTimeline(db, project, list.kind, id, null, EVENTS),
  ])
  if (!row) throw new Fault('not_found', 'Billing object not found.')
  return objectDetail(c, list, present(row), timeline)
}
