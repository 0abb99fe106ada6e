import { and, eq, type SQL, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { featuresAmong, isQuantity } from '../catalog/features'
import { findPlan, isActivePlan } from '../catalog/plans'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { invalidField } from '../http/validate'
import { patched, settingsAudited } from '../tenancy/patched'
import { findProject, type Project } from '../tenancy/project'
import { projects } from '../tenancy/schema'
import type { StoreChange } from '../tenancy/settings'
import { watcherSwitched } from '../watch/switch'

/** Inserts a project with its audit row, for a batch. */
export function projectCreated(db: Db, project: Project, change: Change, condition: SQL | undefined) {
  const { id, name } = project
  return audited(db, change, projectEntry(id, 'project.created', name), insertWhere(db, projects, project, condition))
}

/**
 * Changes the settings of a project that its store decides. The same settings again change nothing.
 *
 * @returns null if there is no such project
 * @throws {Fault} `validation_failed` if `devices_feature` is not a quantity feature of the project, or `default_plan` no active plan
 *   of it
 */
export async function changeInStore(
  db: Db,
  id: string,
  settings: StoreChange,
  change: Change,
): Promise<Project | null> {
  const after = patched(settings)
  const { devices_feature, default_plan } = settings
  const counting = devices_feature ? isQuantity(id, devices_feature) : undefined
  const sold = default_plan ? isActivePlan({ project_id: id, id: default_plan }) : undefined
  const allowed = and(eq(projects.id, id), sql`${after} <> ${projects.settings}`, counting, sold)
  const { project, features, plans } = await batch(db, {
    audit: settingsAudited(db, change, { id, settings }, allowed),
    changed: db.update(projects).set({ settings: after }).where(allowed),
    ...watcherSwitched(db, id, settings.watch_entitlements),
    project: findProject(db, { id }),
    features: featuresAmong(db, id, devices_feature ? [devices_feature] : []),
    plans: findPlan(db, id, default_plan ?? ''),
  })
  if (devices_feature && features[0]?.type !== 'quantity') {
    throw invalidField('/settings/devices_feature', 'not_one_of', 'must be a quantity feature of the project')
  }
  if (default_plan && plans[0]?.state !== 'active') {
    throw invalidField('/settings/default_plan', 'not_one_of', 'must be an active plan of the project')
  }
  return project[0] ?? null
}

/** An audit entry about a project. */
export function projectEntry(id: string, action: string, name: string) {
  return { project_id: id, action, object_type: 'project', object_id: id, details: { name } }
}
