import { and, between, eq, isNull, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { KEY_PREFIX } from '../api-keys/secret'
import { auditLog } from '../audit/schema'
import { features, plans } from '../catalog/schema'
import type { Db } from '../db/client'
import { webhookEndpoints } from '../followers/schema'
import { connections } from '../inbox/connections/schema'
import { vendorRuns } from '../inbox/imports/schema'
import { idFloor, idTime } from '../lib/ids'
import { MINUTE } from '../lib/time'
import { MOST_OF_A_TYPE } from './limits'
import { begins, byBoth, byId, byText, contains, NOTHING, type Source } from './source'

/** How long a request can take until the last entry of the audit log that it writes. */
const WRITES_WITHIN = MINUTE

/** Whether a text is the part of a secret that lists show, or begins like it. */
const isShownPart = (text: string) => text.startsWith(KEY_PREFIX) && text.length > KEY_PREFIX.length

const auditFields = {
  id: auditLog.id,
  title: auditLog.action,
  detail: sql<string>`${auditLog.object_type} || ' ' || ${auditLog.object_id}`,
  vendor: NOTHING,
}

/** What a project has set up. A project has at most some hundred of each, so a part of a name is enough. */
export const SETTINGS_SOURCES: Source<Db>[] = [
  {
    type: 'api_key',
    scope: 'api_keys:read',
    find: (db, project, typed) =>
      byBoth(typed, 'key', (isId) =>
        db
          .select({ id: apiKeys.id, title: apiKeys.name, detail: apiKeys.key_prefix, vendor: NOTHING })
          .from(apiKeys)
          .where(
            isId
              ? and(eq(apiKeys.id, typed.text), eq(apiKeys.project_id, project))
              : and(
                  eq(apiKeys.project_id, project),
                  isNull(apiKeys.revoked_at),
                  isShownPart(typed.text) ? begins(apiKeys.key_prefix, typed.text) : contains(apiKeys.name, typed),
                ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'connection',
    scope: 'connections:read',
    find: (db, project, typed) =>
      byBoth(typed, 'con', (isId) =>
        db
          .select({ id: connections.id, title: connections.name, detail: connections.vendor, vendor: NOTHING })
          .from(connections)
          .where(
            and(
              eq(connections.project_id, project),
              isNull(connections.deleted_at),
              isId
                ? eq(connections.id, typed.text)
                : sql`(${contains(connections.name, typed)} OR ${contains(connections.vendor, typed)})`,
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'import',
    scope: 'connections:read',
    find: (db, project, typed) =>
      byId(typed, 'imp', () =>
        db
          .select({
            id: vendorRuns.id,
            title: sql<string>`${vendorRuns.state}`,
            detail: vendorRuns.connection_id,
            vendor: NOTHING,
          })
          .from(vendorRuns)
          .where(and(eq(vendorRuns.project_id, project), eq(vendorRuns.id, typed.text))),
      ),
  },
  {
    type: 'webhook_endpoint',
    scope: 'webhooks:read',
    find: (db, project, typed) =>
      byBoth(typed, 'whe', (isId) =>
        db
          .select({
            id: webhookEndpoints.id,
            title: webhookEndpoints.url,
            detail: sql<string>`${webhookEndpoints.state}`,
            vendor: NOTHING,
          })
          .from(webhookEndpoints)
          .where(
            and(
              eq(webhookEndpoints.project_id, project),
              isId ? eq(webhookEndpoints.id, typed.text) : contains(webhookEndpoints.url, typed),
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'plan',
    scope: 'catalog:read',
    find: (db, project, typed) =>
      byBoth(typed, 'pln', (isId) =>
        db
          .select({ id: plans.id, title: plans.name, detail: plans.key, vendor: NOTHING })
          .from(plans)
          .where(
            and(
              eq(plans.project_id, project),
              isId ? eq(plans.id, typed.text) : sql`(${contains(plans.name, typed)} OR ${contains(plans.key, typed)})`,
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'feature',
    scope: 'catalog:read',
    find: (db, project, typed) =>
      byText(typed, () =>
        db
          .select({
            id: features.key,
            title: features.name,
            detail: sql<string>`${features.key}`.as('detail'),
            vendor: NOTHING,
          })
          .from(features)
          .where(
            and(
              eq(features.project_id, project),
              sql`(${contains(features.name, typed)} OR ${contains(features.key, typed)})`,
            ),
          )
          .limit(MOST_OF_A_TYPE),
      ),
  },
  {
    type: 'audit_entry',
    scope: 'audit_log:read',
    find: (db, project, typed) =>
      byId(typed, 'aud', () =>
        db
          .select(auditFields)
          .from(auditLog)
          .where(and(eq(auditLog.project_id, project), eq(auditLog.id, typed.text))),
      ),
  },
  {
    // No index has the id of a request, but it says when the request was made, and so does the id of each entry.
    type: 'audit_entry',
    scope: 'audit_log:read',
    find: (db, project, typed) =>
      byId(typed, 'req', () => {
        const at = idTime(typed.text)
        return db
          .select(auditFields)
          .from(auditLog)
          .where(
            and(
              eq(auditLog.project_id, project),
              between(auditLog.id, idFloor('aud', at), idFloor('aud', at + WRITES_WITHIN)),
              eq(auditLog.request_id, typed.text),
            ),
          )
          .limit(MOST_OF_A_TYPE)
      }),
  },
]
