import { type Context, Hono } from 'hono'
import type { CustomerKey } from '../billing/customers/read'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { boundedListOf, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { CustomerLink, customerNamed, keyIn, keyOf, ListQuery, PinBody, presentLink } from './customer-fields'
import { MAX_CUSTOMERS, MAX_CUSTOMERS_LOOKED_AT, MAX_PINNED } from './limits'
import { isLink, listLinks } from './links'
import { pinCustomer, pinToNobody, unpin } from './pins'
import { refOf, refToChange } from './ref'

const tag = 'Billing state'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'billing:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'consumers:write', project: true } as const

/** The vendors' customers, and which consumer each of them is. */
export const customerLinkRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listCustomers',
      summary: 'List the customers of your vendors, and which consumer each one is',
      description: `Every customer that an event has named or a pin names, in the order of their ids. With \`linked\` or \`vendor\`, a page looks at ${MAX_CUSTOMERS_LOOKED_AT} customers at most, or ${MAX_CUSTOMERS} with \`consumer\` too: \`truncated\` means that it reached the limit before it was full, and \`next_cursor\` continues from there.`,
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of customers.', schema: boundedListOf(CustomerLink) } },
    }),
    query(ListQuery),
    async (c) => {
      const sent = c.req.valid('query')
      const { linked, vendor, consumer, guests } = sent
      const list = paging('customers', sent, keyOf)
      const asked = {
        linked,
        vendor,
        guests,
        consumer: consumer === undefined ? undefined : (refOf(consumer) ?? undefined),
      }
      const { rows } = await read(c, {
        rows: listLinks(c.get('rt').db, projectOf(c.get('actor')), asked, {
          before: list.before === null ? null : keyIn(list.before),
          take: list.take,
        }),
      })
      const end = rows.find((row) => !isLink(row))
      return answer(c, list.stopped(list.page(rows.filter(isLink), presentLink), end ? keyOf(end) : null), 200)
    },
  )
  .put(
    '/:vendor/:id',
    route({
      id: 'pinCustomer',
      summary: 'Say which consumer a customer is',
      description: `A pin takes precedence over events until you delete it. You can pin a customer that no event has named yet. Repeating the call changes nothing. A customer of an erased consumer cannot be pinned. At most ${MAX_PINNED} customers can be pinned to one consumer.`,
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The customer.', schema: CustomerLink } },
      faults: ['not_found', 'consumer_merged', 'consumer_erased', 'pin_limit_reached'],
    }),
    body(PinBody),
    async (c) => {
      const { consumer } = c.req.valid('json')
      const of = { project_id: projectOf(c.get('actor')), customer: customerIn(c) }
      const { db } = c.get('rt')
      const link =
        consumer === null
          ? await pinToNobody(db, of, changeOf(c))
          : await pinCustomer(db, of, refToChange(consumer), changeOf(c))
      return answer(c, presentLink(link), 200)
    },
  )
  .delete(
    '/:vendor/:id/pin',
    route({
      id: 'unpinCustomer',
      summary: 'Let events say again which consumer a customer is',
      description: 'Deletes the pin of the customer. Repeating the call changes nothing.',
      tag,
      policy: mayWrite,
      responses: { 204: { description: 'Not pinned.' } },
      faults: ['not_found', 'consumer_erased'],
    }),
    async (c) => {
      const of = { project_id: projectOf(c.get('actor')), customer: customerIn(c) }
      await unpin(c.get('rt').db, of, changeOf(c))
      return answer(c, null, 204)
    },
  )

/** The customer in the path. @throws {Fault} `not_found` if no event could name it */
function customerIn(c: Context<HttpEnv>): CustomerKey {
  return customerNamed(c.req.param('vendor') ?? '', c.req.param('id') ?? '')
}
