import { Hono } from 'hono'
import * as z from 'zod'
import type { Query } from '../db/client'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { boundedListOf, OrderName, pageFields } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { query } from '../http/validate'
import { idTime } from '../lib/ids'
import { iso } from '../lib/time'
import { type People, readAddresses } from '../tenancy/people'
import { auditFilters } from './filters'
import type { AuditRow, ListRow } from './read'
import { actorsOf, auditPaging, readAudit } from './read'

const AuditEntry = named(
  'AuditEntry',
  z.object({
    id: z.string(),
    created_at: timestamp,
    actor: z.object({
      type: named('AuditActorType', z.enum(['user', 'api_key', 'system'])),
      id: z.string(),
      email: z.string().nullable().describe('The email address of a user; null for an API key.'),
      name: z.string().nullable().describe('The current name of an API key; null for a user.'),
    }),
    action: z.string().describe('The change, for example `api_key.rotated`.'),
    object: z.object({ type: z.string(), id: z.string() }),
    request_id: z
      .string()
      .describe('Our own id of the request that made the change: unique, and never chosen by the caller.'),
    client_request_id: z.string().nullable().describe('The X-Request-Id that the caller sent with it; else null.'),
    details: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'What was changed, mostly the new values. Of `project.settings_changed`, `project.renamed`, `connection.updated` and `feature.updated`, `before` has the values that the new ones replaced. Of `plan.updated`, `revision` is the revision that the change made. Entries of older versions lack both.',
      ),
  }),
  {
    id: SAMPLE.audit,
    created_at: SAMPLE.time,
    actor: { type: 'user', id: SAMPLE.user, email: SAMPLE.email, name: null },
    action: 'api_key.rotated',
    object: { type: 'api_key', id: SAMPLE.key },
    request_id: SAMPLE.request,
    client_request_id: null,
    details: null,
  },
)

const order = OrderName.optional().describe('By time. `desc`, the newest first, if it is left out.')

export const auditRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'listAuditLog',
    summary: 'List the audit log of the project',
    description:
      'One entry for each change that took effect. Entries never hold a secret. An entry must match all filters. A page looks at a limited number of entries: `truncated` means that it reached the limit before it was full, and `next_cursor` continues from there.',
    tag: 'Audit log',
    policy: { actors: ['session', 'api_key'], scope: 'audit_log:read', project: true, reads: true },
    responses: {
      200: { description: 'A page of entries.', schema: boundedListOf(AuditEntry) },
    },
  }),
  query(z.strictObject({ ...pageFields, order, ...auditFilters })),
  async (c) => {
    const list = auditPaging('audit-log', c.req.valid('query'))
    const project = projectOf(c.get('actor'))
    const own = async (rows: Query<ListRow[]>) => (await read(c, { rows })).rows
    const rows = await readAudit(c.get('rt'), { own }, project, list)
    const people = await readAddresses(c.get('rt'), actorsOf(rows))
    return answer(
      c,
      list.page(rows, (row) => present(row, people)),
      200,
    )
  },
)

function present(row: AuditRow, people: People): z.infer<typeof AuditEntry> {
  return {
    id: row.id,
    created_at: iso(idTime(row.id)),
    actor: { type: row.actor_type, id: row.actor_id, email: people.get(row.actor_id) ?? null, name: row.actor_name },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    request_id: row.request_id,
    client_request_id: row.client_request_id,
    details: row.details,
  }
}
