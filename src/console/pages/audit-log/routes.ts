import { Hono } from 'hono'
import { actorsOf, auditPaging } from '../../../audit/list'
import { type AuditRow, listAudit } from '../../../audit/read-store'
import { run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { readAddresses } from '../../../members/people'
import { pageAsked } from '../../list'
import { page } from '../../page'
import { listPage } from './list'
import { readFilters } from './query'

/** Who changed what in the project. */
export const auditPages = new Hono<HttpEnv>().get('/', page('audit_log:read'), async (c) => {
  const asked = readFilters(new URL(c.req.url).searchParams)
  if (asked.filters === null) return listPage(c, asked, null)
  const rt = c.get('rt')
  const list = auditPaging('console/audit-log', { ...asked.filters, ...pageAsked(c) })
  const rows = await run(rt.db, listAudit(rt.db, projectOf(c.get('actor')), asked.filters, list.at))
  const people = await readAddresses(rt, actorsOf(rows))
  const named = (row: AuditRow) => ({ ...row, actor_email: people.get(row.actor_id) ?? null })
  return listPage(c, asked, list.page(rows, named))
})
