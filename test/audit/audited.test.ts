import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { type AuditEntry, audited, MAX_DETAILS } from '../../src/audit/store'
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

it.each([
  ['short ones stay whole', { name: 'x'.repeat(500), combine: 'sum' }],
  [
    'the longest value is cut first',
    { name: 'x', redirect_uris: Array.from({ length: 20 }, (_, i) => `${i}${'é'.repeat(500)}`) },
  ],
  ['several long values', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`field_${i}`, 'x'.repeat(1000)]))],
  ['more values than fit', Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`field_${i}`, i]))],
])('details have at most so many bytes: %s', async (_, details) => {
  const { project, owner } = await freshProject()
  const db = openDb<Db>(STORE)
  const change = { actor: { type: 'user' as const, id: owner.user }, request_id: 'req_1', now: Date.now() }
  const entry = { project_id: project, action: 'other', object_type: 'plan', object_id: 'pln_1', details }
  await batch(
    db,
    audited(db, change, entry, db.update(projects).set({ name: 'Other' }).where(eq(projects.id, project))),
  )
  const [row] = await rows<{ details: string; n: number }>(
    "SELECT details, octet_length(details) AS n FROM audit_log WHERE project_id = ? AND action = 'other'",
    project,
  )
  expect(row?.n).toBeLessThanOrEqual(MAX_DETAILS)
  const kept: Record<string, unknown> = JSON.parse(row?.details ?? '{}')
  const whole = JSON.stringify(details)
  if (whole.length <= MAX_DETAILS) return expect(kept).toEqual(details)
  for (const [name, value] of Object.entries(kept).filter(([name]) => name !== 'fields')) {
    const own = JSON.stringify((details as Record<string, unknown>)[name])
    const { bytes, begins } = value as { bytes?: number; begins?: string }
    if (bytes === undefined) expect(JSON.stringify(value)).toBe(own)
    else expect([own.startsWith(begins ?? '-'), bytes]).toEqual([true, new TextEncoder().encode(own).length])
  }
  // Nothing is cut that would have fitted: with any one of the cut values whole, there would be too much.
  for (const [name, value] of Object.entries(kept).filter(([name]) => name !== 'fields')) {
    const own = (details as Record<string, unknown>)[name]
    if (JSON.stringify(value) === JSON.stringify(own) || 'fields' in kept) continue
    expect(new TextEncoder().encode(JSON.stringify({ ...kept, [name]: own })).length).toBeGreaterThan(MAX_DETAILS)
  }
  const names = Object.keys(details)
  expect(Object.keys(kept).slice(0, names.length <= 20 ? names.length : 5)).toEqual(
    names.slice(0, names.length <= 20 ? names.length : 5),
  )
})
