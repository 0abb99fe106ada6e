import { expect, it } from 'vitest'
import { stopClock } from '../clock'
import { addMember, call, cases, DIRECTORY, freshEmail, freshProject, invite, invited, signedIn } from '../harness'
import { accept, as, decline, logged, ownersIn, rolesIn, told } from './members'

/*
 * Calls that are made at once, on a real D1. Each race is run in many rounds; a round leaves the world as it found it, so
 * that one world serves them all.
 */

const ROUNDS = cases(50)
const sorted = (answers: Awaited<ReturnType<typeof accept>>[]) => answers.map(told).map(String).sort()

async function rounds(race: (round: number) => Promise<void>) {
  for (let round = 0; round < ROUNDS; round++) await race(round)
}

it('two owners step down, leave or remove each other: one of them stays', async () => {
  const { project, owner } = await freshProject()
  let kept = owner
  await rounds(async (round) => {
    const other = await addMember(project, 'owner')
    const step = [
      (me: typeof owner, _: typeof owner) => as(project, me.token).give(me.user, 'viewer'),
      (me: typeof owner, _: typeof owner) => as(project, me.token).remove(me.user),
      (me: typeof owner, them: typeof owner) => as(project, me.token).remove(them.user),
      (me: typeof owner, them: typeof owner) => as(project, me.token).give(them.user, 'admin'),
    ]
    const first = step[round % 4] as (typeof step)[0]
    const second = step[Math.floor(round / 4) % 4] as (typeof step)[0]
    const answers = await Promise.all([first(kept, other), second(other, kept)])
    expect(await ownersIn(project)).toBe(1)
    expect(answers.some(({ status }) => status < 300)).toBe(true)
    for (const answer of answers) {
      if (answer.status >= 300)
        expect(['last_owner', 'insufficient_role', 'role_escalation', 'not_a_member', 'not_found']).toContain(
          answer.body.code,
        )
    }
    const roles = await rolesIn(project)
    kept = roles[kept.user] === 'owner' ? kept : other
    expect(roles[kept.user]).toBe('owner')
  })
})

it('two invite one address: one does, and the other is told which is pending', async () => {
  const { project, owner } = await freshProject()
  const admin = await addMember(project, 'admin')
  await rounds(async () => {
    const email = freshEmail()
    const answers = await Promise.all([
      invite(project, owner.token, { email }),
      invite(project, admin.token, { email }),
    ])
    expect(sorted(answers)).toEqual(['201,', '409,already_invited'])
    const made = answers.find(({ status }) => status === 201)
    expect(answers.find(({ status }) => status === 409)?.body.detail).toContain(made?.body.id)
    await fade(project)
  })
})

it('accepted twice at once: one membership, one entry in the log', async () => {
  const { project, owner } = await freshProject()
  const person = await signedIn()
  await rounds(async () => {
    const { id } = await invited(project, { email: person.email })
    const answers = await Promise.all([accept(person, id), accept(person, id)])
    expect(answers.map(({ status, body }) => [status, body.role])).toEqual([
      [200, 'viewer'],
      [200, 'viewer'],
    ])
    expect((await logged(project, person.user)).slice(-1)[0]).toEqual([
      'member.joined',
      { role: 'viewer', invitation: id },
    ])
    await as(project, owner.token).remove(person.user)
  })
  expect(await logged(project, person.user)).toHaveLength(2 * ROUNDS)
})

it('accepted and revoked at once: the later one is told', async () => {
  const { project, owner } = await freshProject()
  const person = await signedIn()
  await rounds(async () => {
    const { id } = await invited(project, { email: person.email })
    const [accepted, revoked] = await Promise.all([accept(person, id), as(project, owner.token).revoke(id)])
    const isMember = (await rolesIn(project))[person.user] !== undefined
    expect([told(accepted), told(revoked)]).toEqual(
      isMember
        ? [
            [200, null],
            [409, 'invitation_not_pending'],
          ]
        : [
            [409, 'invitation_not_pending'],
            [204, null],
          ],
    )
    expect((await logged(project, id)).map(([action]) => action)).toEqual(isMember ? [] : ['invitation.revoked'])
    if (isMember) await as(project, owner.token).remove(person.user)
  })
})

it('accepted while the inviter is removed: it is good, unless it offers admin and the removal came first', async () => {
  const { project, owner } = await freshProject()
  const person = await signedIn()
  await rounds(async (round) => {
    const role = round % 2 === 0 ? 'admin' : 'developer'
    const inviter = await addMember(project, 'admin')
    const { id } = await invited(project, { email: person.email, role, authorized_by: inviter.user })
    const [accepted, removed] = await Promise.all([accept(person, id), as(project, owner.token).remove(inviter.user)])
    expect(removed.status).toBe(204)
    const roles = await rolesIn(project)
    if (role === 'developer') expect(accepted.status).toBe(200)
    expect(told(accepted)).toEqual(roles[person.user] === role ? [200, null] : [409, 'invitation_not_pending'])
    expect(roles).not.toHaveProperty(inviter.user)
    await as(project, owner.token).remove(person.user)
  })
})

it('promoted and removed at once: the second finds what the first left', async () => {
  const { project, owner } = await freshProject()
  const admin = await addMember(project, 'admin')
  await rounds(async () => {
    const person = await addMember(project, 'viewer')
    const [promoted, removed] = await Promise.all([
      as(project, owner.token).give(person.user, 'developer'),
      as(project, admin.token).remove(person.user),
    ])
    expect(removed.status).toBe(204)
    expect(['200,', '404,not_found']).toContain(String(told(promoted)))
    const changed = promoted.status === 200 ? ['member.role_changed'] : []
    expect((await logged(project, person.user)).map(([action]) => action)).toEqual([...changed, 'member.removed'])
  })
})

it('an actor who is demoted at once promotes nobody after that', async () => {
  const { project, owner } = await freshProject()
  const admin = await addMember(project, 'admin')
  const friend = await addMember(project, 'viewer')
  await rounds(async () => {
    const [demoted, promoted] = await Promise.all([
      as(project, owner.token).give(admin.user, 'viewer'),
      as(project, admin.token).give(friend.user, 'admin'),
    ])
    expect(demoted.status).toBe(200)
    const role = (await rolesIn(project))[friend.user]
    expect(told(promoted)).toEqual(role === 'admin' ? [200, null] : [403, 'insufficient_role'])
    await as(project, owner.token).give(admin.user, 'admin')
    await as(project, owner.token).give(friend.user, 'viewer')
  })
})

/** Lets a day pass for the emails of a project, so that their limit is not reached in a race. */
async function fade(project: string) {
  await DIRECTORY.prepare("UPDATE invitations SET recent_sends = '[1]', state = 'revoked' WHERE project_id = ?")
    .bind(project)
    .run()
}

it('of invitations that one address got in the same millisecond, the one that is answered is answered', async () => {
  stopClock()
  const person = await signedIn()
  const projects = [await freshProject('One'), await freshProject('Two'), await freshProject('Three')]
  const [one, two, three] = await Promise.all(projects.map(({ project }) => invited(project, { email: person.email })))
  expect((await accept(person, two?.id ?? '')).body).toMatchObject({ project: { name: 'Two' } })
  expect(told(await decline(person, one?.id ?? ''))).toEqual([204, null])
  const { body } = await call('/auth/invitations', { token: person.token })
  expect(body.data).toMatchObject([{ id: three?.id }])
})
