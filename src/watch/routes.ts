import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { query } from '../http/validate'
import { ToldEntitlementsPage } from './fields'
import { findWatcherState, isOnPage, listStates } from './list'

export const toldRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'listEntitlements',
    summary: 'List the entitlements that the feed of changes has reported',
    description:
      'For a copy of the entitlements: read this list once, then apply each `entitlements.changed` with a greater `revision`. It needs the setting `watch_entitlements`. Consumers without features can be missing. To decide what a consumer may do now, use a check: it does not wait for the feed. A page can end early if its values are large.',
    tag: 'Entitlements',
    policy: { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true },
    responses: { 200: { description: 'A page of reported entitlements.', schema: ToldEntitlementsPage } },
  }),
  query(z.strictObject(pageFields)),
  async (c) => {
    const list = paging<{ consumer_id: string }>('told entitlements', c.req.valid('query'), (row) => row.consumer_id)
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { rows, watcher } = await read(c, {
      rows: listStates(db, project, list),
      watcher: findWatcherState(db, project),
    })
    const fitting = rows.filter(isOnPage)
    const page = list.page(rows, (row) => row, fitting.length)
    const watching = watcher[0]?.state ?? 'off'
    return answer(c, { ...page, data: page.data.filter(isOnPage), watching }, 200)
  },
)
