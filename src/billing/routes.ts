import { Hono } from 'hono'
import * as z from 'zod'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { cursorBinding, listOf, makeCursor, pageFields, readCursor } from '../http/page'
import { route } from '../http/route'
import { query } from '../http/validate'
import { readTimeline, TimelineEntry } from '../inbox/events/timeline'
import { Fault } from '../lib/fault'
import { InvoiceBody, PaymentMethodBody, SubscriptionBody } from '../vendors/objects'
import { objectPage } from './page'
import { present } from './present'
import { findObject, MAX_ROWS_READ, type ObjectRow } from './store'

const tag = 'Billing state'
const policy = { actors: ['session', 'api_key'], scope: 'billing:read', project: true } as const

const origin = {
  id: z.string().describe("The vendor's id."),
  vendor: z.string(),
}
const standing = {
  ambiguous: z
    .boolean()
    .describe('Whether several events of one instant claim the last word, and nothing in them decides.'),
  source_event_id: z.string().describe('The recorded event that says so.'),
}

const Subscription = z.object({ ...origin, ...SubscriptionBody.shape, ...standing }).meta({ id: 'Subscription' })
const Invoice = z.object({ ...origin, ...InvoiceBody.shape, ...standing }).meta({ id: 'Invoice' })
const PaymentMethod = z.object({ ...origin, ...PaymentMethodBody.shape, ...standing }).meta({ id: 'PaymentMethod' })

const id = z.string().min(1).max(200)
const filters = { customer: id.optional(), vendor: z.string().min(1).max(40).optional() }

export const subscriptionRoutes = objectRoutes(
  { kind: 'subscription', one: 'Subscription', many: 'Subscriptions', words: 'subscription' },
  Subscription,
  z.strictObject({ ...pageFields, ...filters, status: SubscriptionBody.shape.status.optional() }),
)

export const invoiceRoutes = objectRoutes(
  { kind: 'invoice', one: 'Invoice', many: 'Invoices', words: 'invoice' },
  Invoice,
  z.strictObject({
    ...pageFields,
    ...filters,
    subscription: id.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted ones are listed only where this asks for them.'),
  }),
)

export const paymentMethodRoutes = objectRoutes(
  { kind: 'payment_method', one: 'PaymentMethod', many: 'PaymentMethods', words: 'payment method' },
  PaymentMethod,
  z.strictObject({ ...pageFields, ...filters, status: PaymentMethodBody.shape.status.optional() }),
)

type Names = { kind: 'subscription' | 'invoice' | 'payment_method'; one: string; many: string; words: string }
type ListQuery = z.ZodType<{
  limit: number
  cursor?: string | undefined
  customer?: string | undefined
  subscription?: string | undefined
  status?: string | undefined
  vendor?: string | undefined
}>

function objectRoutes<Row extends z.ZodType, Query extends ListQuery>(names: Names, Row: Row, Query: Query) {
  const { kind, one, many, words } = names
  const shown = (row: ObjectRow) => present(row) as z.infer<Row>
  return new Hono<HttpEnv>()
    .get(
      '/',
      route({
        id: `list${many}`,
        summary: `The project's ${words}s, as its events say`,
        description: `In the descending order of their ids. \`customer\` has an index; a page of other filters reads at most ${MAX_ROWS_READ} rows: then it is \`truncated\`, and its cursor reads on.`,
        tag,
        policy,
        responses: { 200: { description: 'A page.', schema: listOf(Row).extend({ truncated: z.boolean() }) } },
      }),
      query(Query),
      async (c) => {
        const valid = c.req.valid('query' as never) as z.infer<Query>
        const page = await objectPage(c.get('rt').db, projectOf(c.get('actor')), kind, valid)
        return c.json({ ...page, data: page.data as z.infer<Row>[] }, 200)
      },
    )
    .get(
      '/:id',
      route({
        id: `get${one}`,
        summary: `One ${words}`,
        tag,
        policy,
        responses: { 200: { description: 'As its events say.', schema: Row } },
        faults: ['not_found'],
      }),
      query(z.strictObject({ vendor: filters.vendor.describe('Where two vendors gave the same id.') })),
      async (c) => {
        const { vendor } = c.req.valid('query')
        const row = await findObject(c.get('rt').db, projectOf(c.get('actor')), kind, c.req.param('id'), vendor)
        if (!row) throw new Fault('not_found', `No event of this project says of a ${words} with this id.`)
        return c.json(shown(row), 200)
      },
    )
    .get(
      '/:id/timeline',
      route({
        id: `get${one}Timeline`,
        summary: `What became of each event of a ${words}`,
        description: "The latest by the vendor's time first. `result` is what the event did when it was processed.",
        tag,
        policy,
        responses: { 200: { description: 'A page of events.', schema: listOf(TimelineEntry) } },
        faults: ['not_found'],
      }),
      query(z.strictObject(pageFields)),
      async (c) => {
        const { limit, cursor } = c.req.valid('query')
        const vendorId = c.req.param('id')
        const binding = cursorBinding(`timeline:${kind}:${vendorId}`)
        const { db } = c.get('rt')
        const project = projectOf(c.get('actor'))
        const [object, { entries, resume }] = await Promise.all([
          findObject(db, project, kind, vendorId, undefined),
          readTimeline(db, project, kind, vendorId, readCursor(binding, cursor), limit),
        ])
        if (!object) throw new Fault('not_found', `No event of this project says of a ${words} with this id.`)
        const next_cursor = resume === null ? null : makeCursor(binding, resume)
        return c.json({ data: entries, has_more: resume !== null, next_cursor }, 200)
      },
    )
}
