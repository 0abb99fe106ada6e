import { describe, expect, it } from 'vitest'
import { addMember, call, freshProject, invited, signedIn } from '../../harness'
import { as } from '../../members/members'
import { signIn, ssoMember, team } from './team'

/*
 * What somebody is in another project, or at another connection, says nothing of whether they may sign in here.
 */

type Elsewhere = (email: string) => Promise<unknown>

const ELSEWHERE: Record<string, Elsewhere> = {
  'nothing at all': async () => undefined,
  'a user': (email) => signedIn(email),
  'a member': async (email) => addMember((await freshProject()).project, 'admin', email),
  'an owner': async (email) => addMember((await freshProject()).project, 'owner', email),
  invited: async (email) =>
    invited((await freshProject()).project, { email, role: 'admin', expires_at: Date.now() + 9e6 }),
  'a former member': async (email) => {
    const { project, owner } = await freshProject()
    await as(project, owner.token).remove((await addMember(project, 'viewer', email)).user)
  },
}

describe.each(Object.entries(ELSEWHERE))('who is elsewhere %s', (_, make) => {
  it('is refused where new people must be invited', async () => {
    const of = await team({ default_role: null })
    const email = `ada@${of.domain}`
    await make(email)
    const { token, location, answer } = await signIn(of, { sub: 'ada', email })
    expect(token, `${location} ${answer.text.slice(0, 200)}`).toBeNull()
  })

  it('becomes a member where new people do, in the role that they have there', async () => {
    const of = await team({ default_role: 'viewer' })
    const email = `ada@${of.domain}`
    await make(email)
    const { token } = await signIn(of, { sub: 'ada', email })
    const { body } = await call('/platform/v1/projects', { token })
    expect(body.data).toMatchObject([{ id: of.project, role: 'viewer' }])
  })
})

it('Who is linked at one connection is nobody at another with the same subject', async () => {
  const [of, other] = [await team(), await team({ default_role: null })]
  await ssoMember(of, 'ada')
  const { token } = await signIn(other, { sub: 'ada', email: `ada@${other.domain}` })
  expect(token).toBeNull()
})
