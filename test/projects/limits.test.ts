import { expect, it } from 'vitest'
import { addMember, call, DIRECTORY, freshKey, mint, owning, PROJECTS, STORE, signedIn } from '../harness'

const create = (token: string, project?: string) =>
  call(PROJECTS, {
    method: 'POST',
    token,
    ...(project && { project }),
    json: { name: 'one more' },
  })

async function count(database: D1Database, sql: string, ...values: string[]): Promise<number> {
  return (
    (await database
      .prepare(sql)
      .bind(...values)
      .first<number>('n')) ?? 0
  )
}

it('lets a user own a hundred projects, however many are created at once', async () => {
  const { token, user } = await signedIn()
  await owning(user, 90)
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(token)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
  for (const { status, body } of answers)
    if (status !== 201) expect([status, body.code]).toEqual([409, 'project_limit_reached'])
  // A refused one leaves nothing behind.
  expect(await count(STORE, 'SELECT count(*) AS n FROM projects WHERE created_by = ?', user)).toBe(10)
  expect(await count(DIRECTORY, 'SELECT count(*) AS n FROM members WHERE user_id = ?', user)).toBe(100)
  expect(await count(STORE, 'SELECT count(*) AS n FROM audit_log WHERE actor_id = ?', user)).toBe(10)
})

it('counts what a key creates as its minter’s, and no other user’s', async () => {
  const { project, owner, secret } = await freshKey()
  const admin = await addMember(project, 'admin')
  const admins = await mint(admin.token, project)
  await owning(owner.user, 98)
  expect((await create(secret, project)).status).toBe(201)
  const refused = await create(secret, project)
  expect([refused.status, refused.body.code]).toEqual([409, 'project_limit_reached'])
  expect((await create(owner.token)).status).toBe(409)
  expect((await create(admins.secret, project)).status).toBe(201)
})

it('does not count projects in which the user is no owner', async () => {
  const { token, user } = await signedIn()
  await owning(user, 100, 'admin')
  expect((await create(token)).status).toBe(201)
})
