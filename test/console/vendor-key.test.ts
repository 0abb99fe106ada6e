import { describe, expect, it } from 'vitest'
import { addMember, call, freshProject, newStripeAccount, newStripeKey, stripeConnection } from '../harness'
import { rows } from '../inbox/pipeline'
import { submit, visit } from './visit'

const pathIn = (project: string) => `/console/p/${project}/platform/billing/connections`

/** A connection's page, and the part about the key of the vendor's API. */
async function newPlace() {
  const { project, owner } = await freshProject()
  const { id } = await stripeConnection(owner.token, project)
  const at = `${pathIn(project)}/${id}`
  const part = (text: string) => text.split('<h2 id="api-key">')[1]?.split('<h2')[0] ?? ''
  const shown = async (token = owner.token) => part((await visit(at, token)).text)
  const set = async (api_key: string) => {
    const answer = await submit(`${at}/api-key`, owner.token, { api_key })
    return { ...answer, part: part(answer.text) }
  }
  return { project, owner, id, at, shown, set }
}

describe('the key of a vendor’s API in the console', () => {
  it('is set, shown with its permissions but never itself, replaced and removed', async () => {
    const { at, owner, shown, set } = await newPlace()
    const before = await shown()
    expect(before).toContain('Stripe API key')
    expect(before).toContain('<summary>Add a key</summary>')
    expect(before).toMatch(
      /<input[^>]*name="api_key"[^>]*type="password"|<input[^>]*type="password"[^>]*name="api_key"/,
    )
    expect(before).not.toContain('/api-key/remove')
    const key = await newStripeAccount({ refused: ['checkout/sessions'] })
    const answer = await set(`${key}\n`) // A line break that was copied along is not part of the key.
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, `${at}?done=api_key_set`])
    expect((await visit(`${at}?done=api_key_set`, owner.token)).text).toContain('The API key was checked and stored.')
    const after = await shown()
    expect(after).not.toContain(key)
    expect(after).toContain(`<code>…${key.slice(-4)}</code> <span class="badge good">OK</span>`)
    expect(after).toContain('Live')
    expect(after).toContain('Not yet compared')
    expect(after).toMatch(
      /Checkout sessions<\/td>.*?<code>Checkout Sessions<\/code>.*?<span class="badge bad">refused/s,
    )
    expect(after.match(/<span class="badge good">OK/g)).toHaveLength(9)
    expect(after).toContain('<summary>Replace the key</summary>')
    const second = await newStripeAccount()
    await set(second)
    expect(await shown()).toContain(`…${second.slice(-4)}`)
    const asked = (await visit(`${at}/api-key/remove`, owner.token)).text
    expect(asked).toContain('Remove the Stripe API key?')
    expect((await submit(`${at}/api-key/remove`, owner.token)).status).toBe(303)
    expect(await shown()).toBe(before)
  })

  it('says why a key is not taken, where it was entered, and does not repeat it', async () => {
    const { at, owner, shown, set } = await newPlace()
    for (const [key, status, said] of [
      ['nonsense-of-mine', 422, 'begins with rk_live_ or rk_test_'],
      ['sk_live_51nonsenseofmine', 422, 'can do anything in the account'],
      [newStripeKey('test'), 422, 'This is a test key, and the connection is in live mode.'],
      [newStripeKey(), 422, 'does not know this key'],
      [await newStripeAccount({ fail: { status: 500 } }), 502, 'answered with 500'],
      ['', 422, 'Must not be empty.'],
    ] as const) {
      const answer = await set(key)
      expect([key, answer.status]).toEqual([key, status])
      expect(answer.part).toContain(said)
      expect(answer.part).toContain('<details class="more-form" open')
      if (key !== '') expect(answer.text).not.toContain(key)
    }
    await set(await newStripeAccount())
    const turned = await submit(at, owner.token, { name: 'Stripe', livemode: 'false' })
    expect(turned.status).toBe(422)
    expect(turned.text.split('id="settings"')[1]).toContain('Remove the key before you change the mode.')
    expect(turned.text.split('id="settings"')[0]).not.toContain('Remove the key before you change the mode.')
    expect(await shown()).not.toContain('open=')
  })

  it('that the vendor refuses later is shown as refused', async () => {
    const { id, shown, set } = await newPlace()
    await set(await newStripeAccount())
    await rows("UPDATE vendor_keys SET state = 'refused' WHERE connection_id = ?", id)
    const text = await shown()
    expect(text).toContain('Stripe no longer accepts this key.')
    expect(text).toContain('<span class="badge bad">refused</span>')
  })

  it('is shown to viewers without forms, and not at all for other vendors', async () => {
    const { project, owner, shown, set } = await newPlace()
    await set(await newStripeAccount())
    const viewer = await addMember(project, 'viewer')
    const text = await shown(viewer.token)
    expect(text).toContain('Permissions of the key')
    expect(text).not.toContain('<form')
    expect(text).not.toContain('/api-key/remove')
    const json = { vendor: 'polar', name: 'Polar', livemode: true }
    const path = '/platform/v1/billing/connections'
    const { body } = await call(path, { method: 'POST', token: owner.token, project, json })
    expect((await visit(`${pathIn(project)}/${body.id}`, owner.token)).text).not.toContain('id="api-key"')
  })
})
