import { describe, expect, it } from 'vitest'
import { addMember, DIRECTORY, freshProject, invite, storedTables } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { callRoute } from '../routes/walk'
import { newWorld } from '../routes/world'
import { as, beforeSecond } from './members'

/*
 * What is decided in the directory about people is decided by the role that the caller has when it is written, not by the one that
 * was read with the session.
 */

const BODIES: Record<string, Record<string, unknown>> = {
  'PATCH /platform/v1/projects/:id': { settings: { trusted_connections: [] } },
}
const guarded = ROUTES.filter((route) => {
  const { who } = ROWS[nameOf(route)] ?? {}
  const isOfPeople = /\/(members|invitations)\b|\/projects\/:id(\/restore)?$/.test(route.path)
  return route.method !== 'GET' && isOfPeople && who !== 'public' && who?.session
})

describe('an owner who is made a viewer while the call is under way changes nothing', () => {
  it('of these calls', () => {
    expect(guarded.length).toBeGreaterThanOrEqual(9)
  })

  it.each(guarded.map((route) => [nameOf(route), route] as const))('%s', async (name, route) => {
    const world = await newWorld()
    await ROWS[name]?.audit?.first?.(world)
    if (name in BODIES) {
      await DIRECTORY.prepare(
        `UPDATE projects SET settings = '{"trusted_connections":["sso_00000000000000000000000001"]}' WHERE id = ?`,
      )
        .bind(world.project)
        .run()
    }
    let before: Record<string, string> = {}
    const DB = beforeSecond(async () => {
      await DIRECTORY.prepare(
        "UPDATE members SET role = 'viewer', break_glass = 0 WHERE project_id = ? AND user_id = ?",
      )
        .bind(world.project, world.owner.user)
        .run()
      before = await storedTables()
    })
    const json = BODIES[name] ?? ROWS[name]?.json
    const answer = await callRoute(world, route, {
      token: world.owner.token,
      bindings: { DB },
      ...(route.meta.body !== undefined && { json }),
    })
    expect([answer.status, Object.keys(before).length > 0], answer.text).toEqual([403, true])
    expect(await storedTables()).toEqual(before)
  })
})

it('An invitation hangs on who sent it last: it ends with them, and not with who sent it first', async () => {
  const { project, owner } = await freshProject()
  const [first, second] = [await addMember(project, 'admin'), await addMember(project, 'admin')]
  const { body } = await invite(project, first.token, { role: 'admin' })
  // Long enough ago for another email.
  await DIRECTORY.prepare("UPDATE invitations SET recent_sends = '[1]' WHERE id = ?").bind(body.id).run()
  expect((await as(project, second.token).resend(body.id)).status).toBe(202)
  const state = async () => (await as(project, owner.token).invitation(body.id)).body.state
  await as(project, owner.token).remove(first.user)
  expect(await state()).toBe('pending')
  await as(project, owner.token).remove(second.user)
  expect(await state()).toBe('revoked')
})
