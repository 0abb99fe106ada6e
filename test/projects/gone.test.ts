import { beforeAll, describe, expect, it } from 'vitest'
import { PAGES, visit } from '../console/visit'
import { addMember, call, freshProject, invite, signedIn } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { end } from './ending'

/*
 * Who is invited to a project hears nothing more of it once it is deleted, wherever they look at what is their own; a member only
 * that it was deleted.
 */

let world: Awaited<ReturnType<typeof deleted>>
beforeAll(async () => {
  world = await deleted()
})

async function deleted() {
  const { project, owner } = await freshProject('Vanished')
  const guest = await signedIn()
  const member = await addMember(project, 'developer')
  for (const { email } of [guest, await signedIn()]) await invite(project, owner.token, { email })
  const before = (await call('/auth/invitations', { token: guest.token })).text
  const ended = await end({ project, owner }, {}, 'Vanished')
  return { project, guest, member, before, status: ended.status }
}

/** The ids are those of nothing that is left. */
const addressOf = (path: string) => path.replaceAll(/:\w+/g, 'none')

const own = (path: string) => !path.includes('/:') && !path.includes('sign-in')
const calls = ROUTES.filter(
  ({ method, path, meta }) =>
    method === 'GET' && own(path) && meta.operation?.policy?.project === false && path !== '/platform/v1/projects',
)
const pages = PAGES.filter(({ method, path }) => method === 'GET' && own(path))

it('It was offered before', () => {
  expect([world.status, world.before.includes(world.project)]).toEqual([200, true])
  expect([calls.length > 3, pages.length > 3]).toEqual([true, true])
})

describe('a deleted project is not shown to who was invited', () => {
  it.each(calls.map((route) => [nameOf(route), addressOf(route.path)]))('%s', async (_, path) => {
    const { text } = await call(path, { token: world.guest.token })
    expect([text.includes(world.project), text.includes('Vanished')]).toEqual([false, false])
  })

  it.each(pages.map((page) => [nameOf(page), addressOf(page.path)]))('%s', async (_, path) => {
    const { text } = await visit(path, world.guest.token)
    expect([text.includes(world.project), text.includes('Vanished')]).toEqual([false, false])
  })
})

it('A member sees in the list that it was deleted', async () => {
  const { body } = await call('/platform/v1/projects', { token: world.member.token })
  expect(body.data).toMatchObject([{ id: world.project, deleted_at: expect.any(String) }])
})
