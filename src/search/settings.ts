import { and, between, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { KEY_PREFIX } from '../api-keys/secret'
import { auditLog } from '../audit/schema'
import { features, planRefs, plans } from '../catalog/schema'
import type { Db } from '../db/client'
import { begins, valuesOf } from '../db/sql'
import { webhookEndpoints } from '../followers/schema'
import { connections } from '../inbox/connections/schema'
import { vendorRuns } from '../inbox/imports/schema'
import { idFloor, idTime } from '../lib/ids'
import { MINUTE } from '../lib/time'
import { VENDOR_NAMES } from '../vendors'
import { MOST_OF_A_TYPE } from './limits'
import { byId, byText, contains, foundFields, inTable, type SearchSource } from './source'
import type { SearchText } from './text'

/** How long a request can take until the last entry of the audit log that it writes. */
const WRITES_WITHIN = MINUTE

const shownKey = { id: apiKeys.id, title: apiKeys.name, detail: apiKeys.key_prefix }
const ofKeys = { ...shownKey, table: apiKeys, project: apiKeys.project_id }
/** Whether a text is the part of a secret that lists show, or begins like it. */
const isShownPart = (text: string) => text.startsWith(KEY_PREFIX) && text.length > KEY_PREFIX.length

const shownEntry = {
  id: auditLog.id,
  title: auditLog.action,
  detail: sql`${auditLog.object_type} || ' ' || ${auditLog.object_id}`,
}

/** Whether a plan is that of a vendor's price or product. The key of the prices begins with the vendor. */
function ofPrice(project: string, { text }: SearchText): SQL {
  const { project_id, vendor, ref, plan_id } = planRefs
  return sql`${plans.id} IN (SELECT ${plan_id} FROM ${planRefs}
    WHERE ${project_id} = ${project} AND ${vendor} IN ${valuesOf(VENDOR_NAMES)} AND ${ref} = ${text})`
}

/** What a project has set up, and the log of it. */
export const SETTINGS_SOURCES: SearchSource<Db>[] = [
  // Revoked keys have another index, and are found by their id alone.
  inTable('api_key', 'api_keys:read', { ...ofKeys, prefix: 'key' }),
  {
    type: 'api_key',
    scope: 'api_keys:read',
    find: (db, project, text) =>
      byText(text, () =>
        db
          .select(foundFields(shownKey))
          .from(apiKeys)
          .where(
            and(
              eq(apiKeys.project_id, project),
              isNull(apiKeys.revoked_at),
              isShownPart(text.text) ? begins(apiKeys.key_prefix, text.text) : contains(apiKeys.name, text),
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  inTable('connection', 'connections:read', {
    table: connections,
    project: connections.project_id,
    prefix: 'con',
    id: connections.id,
    title: connections.name,
    detail: connections.vendor,
    livemode: sql`${connections.livemode}`,
    names: [connections.name, connections.vendor],
    only: isNull(connections.deleted_at),
  }),
  inTable('import', 'connections:read', {
    table: vendorRuns,
    project: vendorRuns.project_id,
    prefix: 'imp',
    id: vendorRuns.id,
    title: vendorRuns.state,
    detail: vendorRuns.connection_id,
  }),
  inTable('webhook_endpoint', 'webhooks:read', {
    table: webhookEndpoints,
    project: webhookEndpoints.project_id,
    prefix: 'whe',
    id: webhookEndpoints.id,
    title: webhookEndpoints.url,
    detail: webhookEndpoints.state,
    names: [webhookEndpoints.url],
  }),
  inTable('plan', 'catalog:read', {
    table: plans,
    project: plans.project_id,
    prefix: 'pln',
    id: plans.id,
    title: plans.name,
    detail: plans.key,
    names: [plans.name, plans.key],
    also: ofPrice,
  }),
  inTable('feature', 'catalog:read', {
    table: features,
    project: features.project_id,
    prefix: null,
    id: features.key,
    title: features.name,
    detail: features.key,
    names: [features.name, features.key],
  }),
  inTable('audit_entry', 'audit_log:read', {
    ...shownEntry,
    table: auditLog,
    project: auditLog.project_id,
    prefix: 'aud',
  }),
  {
    // No index has the id of a request, but it says when the request was made, and so does the id of each entry.
    type: 'audit_entry',
    scope: 'audit_log:read',
    find: (db, project, text) =>
      byId(text, 'req', () => {
        const at = idTime(text.text)
        return db
          .select(foundFields(shownEntry))
          .from(auditLog)
          .where(
            and(
              eq(auditLog.project_id, project),
              between(auditLog.id, idFloor('aud', at), idFloor('aud', at + WRITES_WITHIN)),
              eq(auditLog.request_id, text.text),
            ),
          )
          .limit(MOST_OF_A_TYPE)
      }),
  },
]
