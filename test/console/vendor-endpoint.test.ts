import { describe, expect, it } from 'vitest'
import {
  addMember,
  call,
  changeAccount,
  freshProject,
  heldBy,
  newChargebeeAccount,
  newStripeAccount,
  newStripeKey,
} from '../harness'
import { submit, visit } from './visit'

async function newPlace(vendor = 'stripe') {
  const { project, owner } = await freshProject()
  const json = { vendor, name: 'Shop', livemode: true }
  const path = '/platform/v1/billing/connections'
  const { body } = await call(path, { method: 'POST', token: owner.token, project, json })
  const at = `/console/p/${project}/platform/billing/connections/${body.id}`
  const shown = async (token = owner.token) => (await visit(at, token)).text
  const section = async (token?: string) => (await shown(token)).split('<h2 id="endpoint">')[1]?.split('<h2')[0] ?? ''
  const mend = (write_key: string, more = {}) => submit(`${at}/endpoint`, owner.token, { write_key, ...more })
  return { project, owner, at, url: body.ingest_url as string, shown, section, mend }
}

describe('the endpoint at the vendor in the console', () => {
  it('is made with a key in the first step, beside the way by hand', async () => {
    const { at, owner, shown, section, mend, url } = await newPlace()
    const before = await shown()
    expect(before).toContain('<summary>Create the endpoint with a key</summary>')
    expect(before).toMatch(/<input(?=[^>]*name="write_key")(?=[^>]*type="password")(?=[^>]*autocomplete="off")/)
    expect(before).toContain('Webhook Endpoints: Write')
    expect(before).toContain('<code>customer.subscription.*</code>')
    expect(await section()).toBe('')
    const key = await newStripeAccount({ writes: true })
    const answer = await mend(` ${key}\n`)
    const done = `${at}?done=vendor_endpoint_created`
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, done])
    const after = (await visit(done, owner.token)).text
    expect(after).toContain('its signing secret was stored')
    expect(after).toContain('The secret is stored encrypted.')
    expect(after).not.toContain('Create the endpoint with a key')
    expect(after).not.toContain(key)
    const [endpoint] = Object.values(await heldBy(key))
    expect([endpoint?.url, await section()]).toEqual([
      url,
      expect.stringContaining(`<code class="id">${endpoint?.id}</code>`),
    ])
    expect(await section()).toContain('No problems were found.')
    expect((await mend(key)).headers.get('Location')).toBe(`${at}?done=vendor_endpoint_unchanged`)
  })

  it('shows what is wrong with it, and mends it', async () => {
    const { at, owner, project, section, mend } = await newPlace()
    const key = await newStripeAccount({ writes: true })
    await mend(key)
    expect(await section()).toContain('With a read-only API key, the service checks the endpoint once a day.')
    const readKey = await newStripeAccount({ same_as: key, writes: false })
    await submit(`${at}/api-key`, owner.token, { api_key: readKey })
    const [endpoint] = Object.values(await heldBy(key))
    const wrong = { ...endpoint, status: 'disabled', enabled_events: ['invoice.paid'] }
    await changeAccount(key, { objects: { [String(endpoint?.id)]: wrong } })
    const checked = await submit(`${at}/endpoint/check`, owner.token, { check: 'now' })
    expect(checked.headers.get('Location')).toBe(`${at}?done=vendor_endpoint_checked`)
    const found = await section()
    expect(found).toContain('The webhook endpoint at Stripe is disabled, so no events arrive.')
    expect(found).toContain('Stripe does not send customer.created, ')
    expect(found).toContain('<summary>Repair</summary>')
    const viewer = await addMember(project, 'viewer')
    expect(await section(viewer.token)).toContain('is disabled')
    expect(await section(viewer.token)).not.toContain('Repair')
    expect((await mend(key)).headers.get('Location')).toBe(`${at}?done=vendor_endpoint_updated`)
    expect(await section()).toContain('No problems were found.')
    await changeAccount(readKey, { fail: { status: 500 } })
    const failed = await submit(`${at}/endpoint/check`, owner.token, { check: 'now' })
    expect(failed.status).toBe(502)
    expect(failed.text.split('<h2 id="endpoint">')[1]?.split('<h2')[0]).toContain('answered with 500')
    expect(await section()).toContain('The last check failed')
  })

  it('says why a key is not taken, where it was entered, and does not repeat it', async () => {
    const { mend } = await newPlace()
    for (const [key, status, said] of [
      ['nonsense-of-mine', 422, 'begins with rk_live_ or rk_test_'],
      [newStripeKey('test'), 422, 'This is a test key, and the connection is in live mode.'],
      [newStripeKey(), 422, 'does not know this key'],
      [await newStripeAccount(), 422, 'needs this permission at Stripe'],
      [await newStripeAccount({ fail: { status: 500 } }), 502, 'answered with 500'],
      ['', 422, 'Must not be empty.'],
    ] as const) {
      const answer = await mend(key)
      expect([key, answer.status]).toEqual([key, status])
      const form = answer.text.split('<summary>Create the endpoint with a key</summary>')[1]?.split('</details>')[0]
      expect(form).toContain(said)
      if (key !== '') expect(answer.text).not.toContain(key)
    }
  })

  it('asks for the site at Chargebee, and checks without a change if that is wanted', async () => {
    const { at, shown, mend } = await newPlace('chargebee')
    expect(await shown()).toMatch(/<label for="account">Site<\/label>.*name="account".*acme in acme\.chargebee\.com/s)
    expect(await (await newPlace()).shown()).not.toContain('name="account"')
    const key = await newChargebeeAccount({ writes: true, site: 'acme' })
    const missing = await mend(key)
    expect([missing.status, missing.text]).toEqual([422, expect.stringContaining('Must be the site at Chargebee.')])
    const wrong = await mend(key, { account: 'acne' })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Is not a site that Chargebee has.')])
    expect(wrong.text).toMatch(/<input(?=[^>]*name="account")(?=[^>]*value="acne")/)
    const checked = await mend(key, { account: 'acme', dry_run: 'true' })
    expect(checked.headers.get('Location')).toBe(`${at}?done=vendor_endpoint_checked`)
    expect(await heldBy(key)).toEqual({})
    const made = await mend(key, { account: 'acme' })
    expect(made.headers.get('Location')).toBe(`${at}?done=vendor_endpoint_created`)
    expect(await shown()).toContain('The service stores no Chargebee API key')
  })
})
