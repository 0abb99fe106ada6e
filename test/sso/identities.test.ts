import { expect, it } from 'vitest'
import { told } from '../console/member-pages'
import { submit, visit } from '../console/visit'
import { addMember, call } from '../harness'
import { customersWorld, SSO } from './customers'

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
  const { text } = await visit(path, owner.token)
  expect(text).toContain(`href="${at}/settings/sso/${connection.id}">Acme</a>`)
  expect([text.includes('ada-1'), text.includes('ada-2'), text.includes('somebody-else')]).toEqual([true, true, false])
  const remove = `${path}/identities/${first.identity.id}/remove`
  expect(text).toContain(remove)
  const developer = (await addMember(project, 'developer')).token
  expect((await visit(path, developer)).text).not.toContain('/remove')
  const asked = await visit(remove, owner.token)
  expect(asked.text).toContain('Remove ada-1?')
  const other = await signIn({ subject: 'another' })
  expect((await visit(`${path}/identities/${other.identity.id}/remove`, owner.token)).status).toBe(404)
  expect(await told(submit(`${path}/identities/${other.identity.id}/remove`, owner.token))).toMatchObject({
    status: 404,
  })
  expect(await told(submit(remove, owner.token))).toMatchObject({
    status: 303,
    location: `${path}?done=identity_removed`,
  })
  expect(await subjects(into)).toEqual([200, ['ada-2']])
  // Somebody who signs in for the first time.
  expect(await signIn({ subject: 'ada-1' })).toMatchObject({ created: true })
})
