import { describe, expect, it } from 'vitest'
import { call, deliver, freshProject, ORIGIN, stripeConnection, stripeEvent } from '../harness'
import { submit, visit } from './visit'

describe('connections in the console', () => {
  it('connects a vendor, adds and removes secrets, renames, disables and deletes', async () => {
    const { project, owner } = await freshProject()
    const connections = `/console/p/${project}/platform/billing/connections`
    const wrong = await submit(connections, owner.token, {
      vendor: 'stripe',
      name: 'Kept',
      livemode: 'true',
      signing_secret: 'nonsense',
    })
    expect([wrong.status, wrong.text.includes('value="Kept"'), wrong.text.includes('nonsense')]).toEqual([
      422,
      true,
      false,
    ])
    const unsaid = { vendor: 'stripe', name: 'S', livemode: '', signing_secret: 'whsec_0123456789' }
    const refused = await submit(connections, owner.token, unsaid)
    expect([refused.status, refused.text.includes('Is required.')]).toEqual([422, true])
    const made = await submit(connections, owner.token, {
      vendor: 'stripe',
      name: 'S',
      livemode: 'true',
      signing_secret: 'whsec_0123456789',
    })
    const at = made.headers.get('Location') ?? ''
    const id = at.split('/').at(-1) ?? ''
    expect((await visit(at, owner.token)).text).toContain(`${ORIGIN}/ingest/${id}`)
    await submit(`${at}/secrets`, owner.token, { signing_secret: 'whsec_987654329876543210' })
    const read = async () =>
      (await call(`/platform/v1/billing/connections/${id}`, { token: owner.token, project })).body
    const [first] = (await read()).secrets
    await submit(`${at}/secrets/${first.id}/remove`, owner.token)
    expect((await read()).secrets.map(({ hint }: { hint: string }) => hint)).toEqual(['3210'])
    await submit(at, owner.token, { name: 'Renamed' })
    await submit(at, owner.token, { status: 'disabled' })
    expect(await read()).toMatchObject({ name: 'Renamed', status: 'disabled' })
    await submit(`${at}/delete`, owner.token)
    expect((await visit(at, owner.token)).status).toBe(404)
  })

  it('shows a hint for each vendor’s secret, and uses the vendors’ brand names', async () => {
    const { project, owner } = await freshProject()
    const connections = `/console/p/${project}/platform/billing/connections`
    const form = (await visit(`${connections}/new`, owner.token)).text
    for (const said of ['public_key:private_key', 'user:password', '>Standard Webhooks<', '>RevenueCat<', '>Stripe<']) {
      expect(form).toContain(said)
    }
    const fields = { vendor: 'gocardless', name: 'Debits', livemode: 'false', signing_secret: 'a-secret-of-theirs' }
    const at = (await submit(connections, owner.token, fields)).headers.get('Location') ?? ''
    const { text } = await visit(at, owner.token)
    expect(text).toContain('Enter this URL as a webhook endpoint at GoCardless')
    expect(text).toContain('A GoCardless webhook endpoint secret has')
    expect(text).not.toContain('public_key')
    expect((await visit(connections, owner.token)).text).toContain('>GoCardless<')
  })

  it('shows what was refused, with what to do about each cause, on its page and on the health page', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const platform = `/console/p/${project}/platform/billing`
    const pages = [`${platform}/connections/${id}`, `${platform}/webhooks/health`]
    for (const page of pages) expect((await visit(page, owner.token)).text).not.toContain('What to do')
    for (const secret of ['whsec_of_another_1', 'whsec_of_another_2']) await deliver(id, stripeEvent(), { secret })
    await deliver(id, stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } })
    for (const page of pages) {
      const { text } = await visit(page, owner.token)
      expect(text).toMatch(/<code>signature_mismatch<\/code>.*?>2<.*?Copy the secret of this endpoint/s)
      expect(text).toMatch(/<code>signature_malformed<\/code>.*?>1<.*?Check that the connection has the right vendor/s)
    }
    expect((await visit(pages[1] as string, owner.token)).text).toContain(
      'the connection Stripe refused every delivery',
    )
  })
})
