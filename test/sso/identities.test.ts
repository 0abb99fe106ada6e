import { expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { told } from '../console/member-pages'
import { submit, visit } from '../console/visit'
import { addMember, call, DIRECTORY } from '../harness'
import { customersWorld, SSO } from './customers'
import { ssoMember, team } from './team/team'

it('the identities of a consumer are those of the consumers that were merged into it too, and can be removed', async () => {
  const { project, secret, owner, signIn, consumers, connection } = await customersWorld()
  const first = await signIn({ subject: 'ada-1' })
  const second = await signIn({ subject: 'ada-2' })
  await signIn({ subject: 'somebody-else' })
  const [from, into] = [first.consumer.id, second.consumer.id]
  const subjects = async (consumer: string) => {
    const { status, body } = await call(`${SSO}/identities?consumer=${consumer}`, { project, token: secret })
    return [status, body.data.map(({ subject }: { subject: string }) => subject)]
  }
  expect(await subjects(into)).toEqual([200, ['ada-2']])
  await consumers.merge(from, into)
  expect(await subjects(into)).toEqual([200, ['ada-2', 'ada-1']])
  expect(await subjects(from)).toEqual([200, ['ada-1']])
  expect(await subjects('csm_none')).toEqual([200, []])

  const at = `/console/p/${project}/platform`
  const path = `${at}/consumers/${into}`
  const { text } = await visit(`${path}?tab=devices`, owner.token)
  expect(text).toContain(`href="${at}/settings/sso/${connection.id}">Acme</a>`)
  expect([text.includes('ada-1'), text.includes('ada-2'), text.includes('somebody-else')]).toEqual([true, true, false])
  const remove = `${path}/identities/${first.identity.id}/remove`
  expect(text).toContain(remove)
  const developer = (await addMember(project, 'developer')).token
  expect((await visit(`${path}?tab=devices`, developer)).text).not.toContain('/remove')
  const asked = await visit(remove, owner.token)
  expect(asked.text).toContain('Remove ada-1?')
  const other = await signIn({ subject: 'another' })
  expect((await visit(`${path}/identities/${other.identity.id}/remove`, owner.token)).status).toBe(404)
  expect(await told(submit(`${path}/identities/${other.identity.id}/remove`, owner.token))).toMatchObject({
    status: 404,
  })
  expect(await told(submit(remove, owner.token))).toMatchObject({
    status: 303,
    location: `${path}?tab=devices&done=identity_removed`,
  })
  expect(await subjects(into)).toEqual([200, ['ada-2']])
  // Somebody who signs in for the first time.
  expect(await signIn({ subject: 'ada-1' })).toMatchObject({ created: true })
})

it('shows the address of the latest sign-in', async () => {
  const { project, secret, signIn } = await customersWorld()
  const { consumer } = await signIn({ subject: 'ada', email: 'ada@first.dev', email_verified: true })
  await signIn({ subject: 'ada', email: 'ada@second.dev', email_verified: true })
  const { body } = await call(`${SSO}/identities?consumer=${consumer.id}`, { project, token: secret })
  expect(body.data.map(({ email }: { email: string }) => email)).toEqual(['ada@second.dev'])
})

it('those of a connection that was deleted are gone with it, before the cron deletes them', async () => {
  const { project, secret, owner, signIn, connection } = await customersWorld()
  const { consumer, identity } = await signIn({ subject: 'ada' })
  const shown = async () => {
    const all = await call(`${SSO}/identities`, { project, token: secret })
    const own = await call(`${SSO}/identities?consumer=${consumer.id}`, { project, token: secret })
    const { text } = await visit(`/console/p/${project}/platform/consumers/${consumer.id}?tab=devices`, owner.token)
    return [all.body.data.length, own.body.data.length, text.includes(identity.id)]
  }
  expect(await shown()).toEqual([1, 1, true])
  await call(`${SSO}/connections/${connection.id}`, { method: 'DELETE', project, token: owner.token })
  expect(await shown()).toEqual([0, 0, false])
})

it('removing one of a user signs them out where it signed them in, and nowhere else', async () => {
  const [of, other] = [await team(), await team()]
  const ada = await ssoMember(of)
  for (const connection of [null, other.connection]) await insertSession(ada.user, connection)
  const { body } = await call(`${SSO}/identities?user_id=${ada.user}`, { project: of.project, token: of.owner.token })
  const path = `${SSO}/identities/${body.data[0].id}`
  expect((await call(path, { method: 'DELETE', project: of.project, token: of.owner.token })).status).toBe(204)
  const sessions = DIRECTORY.prepare('SELECT connection_id FROM sessions WHERE user_id = ? ORDER BY connection_id')
  const { results } = await sessions.bind(ada.user).all()
  expect(results.map(({ connection_id }) => connection_id)).toEqual([null, other.connection])
})

/** A session of a user, opened by a code or by a connection, written to the database. */
async function insertSession(user: string, connection: string | null): Promise<void> {
  const id = newId('ses', Date.now())
  await DIRECTORY.prepare(
    `INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at, connection_id)
     VALUES (?1, ?2, ?1, ?3, ?3 + 3600000, ?3, ?4)`,
  )
    .bind(id, user, Date.now(), connection)
    .run()
}
