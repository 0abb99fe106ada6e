import { Hono } from 'hono'
import * as z from 'zod'
import { NAMES, noObject } from '../../billing/names'
import { findObject } from '../../billing/read/store'
import type { Send } from '../../db/client'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import type { ObjectKind } from '../../lib/billing-kinds'
import { readTimeline } from './read'
import { TimelineEntry } from './timeline'

/** `GET /:id/timeline` of one kind of object: mounted beside the routes that read the object itself. */
function timelineRoutes(kind: ObjectKind) {
  const { one, aNoun } = NAMES[kind]
  return new Hono<HttpEnv>().get(
    '/:id/timeline',
    route({
      id: `get${one}Timeline`,
      summary: `List the events of ${aNoun}`,
      description: "The latest by the vendor's time first. `result` is what the event did when it was processed.",
      tag: 'Billing state',
      policy: { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true },
      responses: { 200: { description: 'A page of events.', schema: listOf(TimelineEntry) } },
      faults: ['not_found'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const asked = c.req.valid('query')
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const id = c.req.param('id')
      const list = paging(`timeline:${kind}:${id}`, asked)
      const send: Send = (queries) => read(c, queries)
      const { page, found } = await readTimeline(
        { db, send, project },
        { kind, id },
        { from: list.before, limit: asked.limit },
        { objects: findObject(db, project, { kind, id }) },
      )
      if (!found.objects[0]?.body) throw noObject(kind)
      return answer(c, list.upTo(page.entries, page.resume), 200)
    },
  )
}

export const subscriptionTimelineRoutes = timelineRoutes('subscription')
export const invoiceTimelineRoutes = timelineRoutes('invoice')
export const paymentMethodTimelineRoutes = timelineRoutes('payment_method')
export const purchaseTimelineRoutes = timelineRoutes('purchase')
