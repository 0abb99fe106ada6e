import { expect, it } from 'vitest'
import { addMember, call, deliver, freshProject, STORE, stripeConnection, stripeEvent } from '../harness'
import { submit, visit } from './visit'

/** A Stripe connection with a secret more, and its page. */
async function newPlace() {
  const { project, owner } = await freshProject()
  const connection = await stripeConnection(owner.token, project)
  const at = `/console/p/${project}/platform/billing/connections/${connection.id}`
  const json = { signing_secret: 'whsec_the_new_one_0123' }
  const path = `/platform/v1/billing/connections/${connection.id}/secrets`
  expect((await call(path, { method: 'POST', project, token: owner.token, json })).status).toBe(201)
  const old = connection.secrets[0]?.id
  const kept = async () => {
    const { results } = await STORE.prepare('SELECT id FROM removed_secrets WHERE connection_id = ?')
      .bind(connection.id)
      .all()
    return results
  }
  return { project, owner, connection, at, old, kept }
}

it('the page of a connection says why a delivery was refused, and what to do', async () => {
  const { project, owner, connection, at, old, kept } = await newPlace()
  expect((await visit(at, owner.token)).text).not.toContain('Why deliveries were refused')
  expect((await submit(`${at}/secrets/${old}/remove`, owner.token)).status).toBe(303)
  expect(await kept()).toEqual([{ id: old }])
  expect((await deliver(connection.id, stripeEvent())).status).toBe(401)
  for (const { token } of [owner, await addMember(project, 'viewer')]) {
    const { text } = await visit(at, token)
    expect(text).toContain('Why deliveries were refused')
    expect(text).toContain('<span title="removed_secret">Removed secret</span>')
    expect(text).toContain('Switch the vendor to a live secret')
    expect(text).toContain(`Secret: <code>${old}</code>`)
    // The step that waits for the first delivery says it too.
    expect(text).toMatch(/<section class="refusal".*?Switch the vendor to a live secret.*?<\/section>/s)
  }
})

it('a secret is removed without a copy if that is ticked', async () => {
  const { owner, connection, at, old, kept } = await newPlace()
  expect((await visit(`${at}/secrets/${old}/remove`, owner.token)).text).toContain('Keep no copy')
  expect((await submit(`${at}/secrets/${old}/remove`, owner.token, { forget: 'true' })).status).toBe(303)
  expect(await kept()).toEqual([])
  expect((await deliver(connection.id, stripeEvent())).status).toBe(401)
  const { text } = await visit(at, owner.token)
  expect(text).toContain('Cause not found')
})
