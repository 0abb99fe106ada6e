import { Hono } from 'hono'
import * as z from 'zod'
import { Customer } from '../../billing/customers/customer'
import { customerOf, ofCustomer } from '../../billing/customers/read'
import { MAX_ID_LENGTH, MAX_OF_CUSTOMER } from '../../billing/limits'
import { noObject } from '../../billing/names'
import { include } from '../../billing/read/fields'
import { linkOf } from '../../consumers/customer-fields'
import { findLink, type Link } from '../../consumers/links'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { included, including, inRoomFor } from './vendor-object'

/** `GET /:vendor/:id`: a customer, and what it has. */
export const customerRoutes = new Hono<HttpEnv>().get(
  '/:vendor/:id',
  route({
    id: 'getCustomer',
    summary: 'Get a customer with its subscriptions, invoices, payment methods and purchases',
    description: `The customer as its own events describe it, and the ${MAX_OF_CUSTOMER} of each kind that changed last. If only other objects name the customer, its own fields are null. Deleted invoices are left out.`,
    tag: 'Billing state',
    policy: { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true },
    responses: { 200: { description: 'The customer.', schema: Customer } },
    faults: ['not_found'],
  }),
  query(z.strictObject({ include })),
  async (c) => {
    const project = projectOf(c.get('actor'))
    const { include } = c.req.valid('query')
    const { vendor, id } = c.req.param()
    if (id.length > MAX_ID_LENGTH) throw noObject('customer')
    const { db } = c.get('rt')
    return inRoomFor(c, include, async () => {
      const { source, links, ...found } = await read(c, {
        ...ofCustomer(db, project, { vendor, id }),
        links: findLink(db, project, { vendor, id }),
        ...including(db, project, { kind: 'customer', id, vendor }, include),
      })
      const link = links[0] as Link
      const customer = customerOf({ vendor, id }, found, link)
      if (!customer) throw noObject('customer')
      return answer(
        c,
        { ...customer, ...linkOf(link), ...included({ kind: 'customer', id, vendor }, include, source) },
        200,
      )
    })
  },
)
