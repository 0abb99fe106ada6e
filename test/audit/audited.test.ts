import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { type AuditEntry, audited } from '../../src/audit/store'
import { batch, type Db, openDb } from '../../src/db/client'
import { projects } from '../../src/tenancy/schema'
import { freshProject, STORE } from '../harness'
import { rows } from '../inbox/pipeline'

it('does not let one audited change overwrite another in the same batch', async () => {
  const { project, owner } = await freshProject()
  const db = openDb<Db>(STORE)
  const change = { actor: { type: 'user' as const, id: owner.user }, request_id: 'req_1', now: Date.now() }
  const rename = (name: string) => {
    const entry: AuditEntry = {
      project_id: project,
      action: 'project.renamed',
      object_type: 'project',
      object_id: project,
      details: { name },
    }
    return audited(db, change, entry, db.update(projects).set({ name }).where(eq(projects.id, project)))
  }
  const stored = async () => [
    await rows('SELECT name FROM projects WHERE id = ?', project),
    await rows("SELECT details FROM audit_log WHERE object_id = ? AND action = 'project.renamed'", project),
  ]
  const [before] = await stored()
  await expect(batch(db, { ...rename('One'), ...rename('Two') })).rejects.toThrow(/overwritten/)
  expect(await stored()).toEqual([before, []])
  await batch(db, { ...rename('One') })
  expect(await stored()).toEqual([[{ name: 'One' }], [{ details: '{"name":"One"}' }]])
})
