import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ROLES, type Role, rankOf } from '../../src/lib/access'
import { addMember, cases, DIRECTORY, freshProject, invite, signedIn } from '../harness'
import { accept, as, rolesIn } from './members'

/*
 * Random sequences of what random people do to each other. The model is only the rule: what somebody may give. Whatever
 * they try, there is an owner, and each role is one that its giver could give at that moment.
 */

const PEOPLE = 5
const person = fc.nat(PEOPLE - 1)
const role = fc.constantFrom(...ROLES)
const step = fc.oneof(
  fc.record({ kind: fc.constant('invite' as const), by: person, of: person, role }),
  fc.record({ kind: fc.constant('accept' as const), by: person, of: person, role }),
  fc.record({ kind: fc.constant('give' as const), by: person, of: person, role }),
  fc.record({ kind: fc.constant('remove' as const), by: person, of: person, role }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

it('after any sequence there is an owner, and nobody has more than somebody could give', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps: Step[]) => {
      const { project, owner } = await freshProject()
      const people = [owner, await addMember(project, 'admin'), await addMember(project, 'viewer')]
      while (people.length < PEOPLE) people.push(await signedIn())
      const offers = new Map<number, { id: string; role: Role }>()
      for (const { kind, by, of, role } of steps) {
        const [actor, target] = [people[by] as typeof owner, people[of] as typeof owner]
        const before = await rolesIn(project)
        const reach = before[actor.user] === undefined ? -1 : rankOf(before[actor.user] as Role)
        const manages = reach >= rankOf('admin')
        const done = async () => {
          if (kind === 'give') return as(project, actor.token).give(target.user, role)
          if (kind === 'remove') return as(project, actor.token).remove(target.user, '')
          if (kind === 'invite') return invite(project, actor.token, { email: target.email, role })
          return accept(actor, offers.get(by)?.id ?? 'inv_none')
        }
        const answer = await done()
        expect(answer.status).toBeLessThan(500)
        const after = await rolesIn(project)
        expect(Object.values(after)).toContain('owner')
        const changed = people.filter(({ user }) => before[user] !== after[user])
        if (answer.status >= 300) expect(changed).toEqual([])
        if (kind === 'invite' && answer.status < 300) {
          expect(manages && reach >= rankOf(role)).toBe(true)
          offers.set(of, { id: answer.body.id, role })
        }
        for (const { user } of changed) {
          expect(changed).toHaveLength(1)
          const [had, has] = [before[user], after[user]]
          if (kind === 'accept') expect([user, had, has]).toEqual([actor.user, undefined, offers.get(by)?.role])
          else if (kind === 'remove' && by === of) expect([user, has]).toEqual([actor.user, undefined])
          else {
            expect([user, manages]).toEqual([target.user, true])
            expect(reach).toBeGreaterThanOrEqual(Math.max(rankOf(had as Role), has === undefined ? 0 : rankOf(has)))
          }
        }
        await DIRECTORY.prepare("UPDATE invitations SET recent_sends = '[1]' WHERE project_id = ?").bind(project).run()
      }
    }),
    { numRuns: cases(40) },
  )
})
