import { Hono } from 'hono'
import { auditPaging } from '../../../audit/list'
import { listAudit } from '../../../audit/read-store'
import { run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { pageAsked } from '../../list'
import { page } from '../../page'
import { listPage } from './list'
import { readFilters } from './query'

/** Who changed what in the project. */
export const auditPages = new Hono<HttpEnv>().get('/', page('audit_log:read'), async (c) => {
  const asked = readFilters(new URL(c.req.url).searchParams)
  if (asked.filters === null) return listPage(c, asked, null)
  const { db } = c.get('rt')
  const list = auditPaging('console/audit-log', { ...asked.filters, ...pageAsked(c) })
  const rows = await run(db, listAudit(db, projectOf(c.get('actor')), asked.filters, list.at))
  return listPage(
    c,
    asked,
    list.page(rows, (row) => row),
  )
})
