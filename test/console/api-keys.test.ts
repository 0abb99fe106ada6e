import { beforeAll, describe, expect, it } from 'vitest'
import { call, deliver, freshProject, mint, ORDINARY, ORIGIN, settled, stripeConnection, stripeEvent } from '../harness'
import { formToken, submit, visit } from './visit'

const DAY = 86_400_000
const NEXT_YEAR = new Date(Date.now() + 400 * DAY).toISOString().slice(0, 10)

describe('API keys in the console', () => {
  let project: string
  let token: string
  let keys: string
  beforeAll(async () => {
    const made = await freshProject()
    project = made.project
    token = made.owner.token
    keys = `/console/p/${project}/platform/settings/api-keys`
  })
  const mintByForm = async (fields: Record<string, string>) => {
    const form = new URLSearchParams({ form_token: await formToken(token), scope: 'billing:read', ...fields })
    form.append('scope', 'api_keys:read')
    return visit(keys, token, { form })
  }
  const secretIn = (text: string) => /svc_v1_[0-9a-f]{96}/.exec(text)?.[0] ?? ''

  it('shows an example call if there are no keys', async () => {
    const { text } = await visit(keys, token)
    expect(text).toContain(`curl ${ORIGIN}/platform/v1/api-keys/self`)
  })

  it('leads back to the steps of a new project, and to the list of one that is set up', async () => {
    const { project, owner } = await freshProject()
    const keys = `/console/p/${project}/platform/settings/api-keys`
    const next = async () => {
      const { text } = await visit(`${keys}/new`, owner.token)
      const once = /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
      const { text: shown } = await submit(keys, owner.token, {
        once,
        name: 'S',
        preset: 'billing',
        expires: '7',
        on: '',
      })
      const secret = /id="secret">([^<]+)</.exec(shown)?.[1] ?? ''
      expect(shown).toMatch(/The key expires at \S+ \S+ UTC \(in 7 d\)\./)
      return { secret, href: /href="([^"]+)" data-saved/.exec(shown)?.[1] }
    }
    const { secret, href } = await next()
    expect(href).toBe(`/console/p/${project}`)
    await call('/platform/v1/api-keys/self', { token: secret, project })
    const { id } = await stripeConnection(owner.token, project)
    const { body } = await deliver(id, stripeEvent())
    await settled(project, owner.token, body.event_ids[0])
    expect((await next()).href).toBe(keys)
  })

  it('creates, rotates and revokes a key, and shows each secret once', async () => {
    const minted = await mintByForm({ name: 'By form', expires: '30' })
    expect(minted.status).toBe(201)
    const first = secretIn(minted.text)
    const listed = await call('/platform/v1/api-keys', { token, project })
    const [key] = listed.body.data
    expect(key).toMatchObject({ name: 'By form', scopes: ['billing:read', 'api_keys:read'] })
    expect(Date.parse(key.expires_at) - Date.now()).toBeGreaterThan(29 * DAY)
    const list = await visit(keys, token)
    expect(list.text).toContain('By form')
    expect(list.text).not.toContain(first)

    expect((await call('/platform/v1/api-keys', { token: first, project })).status).toBe(200)
    const question = await visit(`${keys}/${key.id}/rotate`, token)
    expect(question.text).toContain('The key was last used')
    const rotated = await submit(`${keys}/${key.id}/rotate`, token)
    const second = secretIn(rotated.text)
    expect((await call('/platform/v1/api-keys', { token: first, project })).body.code).toBe('key_rotated')
    expect((await call('/platform/v1/api-keys', { token: second, project })).status).toBe(200)

    const revoked = await submit(`${keys}/${key.id}/revoke`, token)
    expect(revoked.headers.get('Location')).toBe(`${keys}?done=key_revoked`)
    expect((await call('/platform/v1/api-keys', { token: second, project })).body.code).toBe('key_revoked')
    const { body } = await call('/platform/v1/audit-log', { token, project })
    expect(body.data.map((row: { action: string }) => row.action)).toEqual(
      expect.arrayContaining(['api_key.minted', 'api_key.rotated', 'api_key.revoked']),
    )
  })

  it('says which keys a key was handed, and revokes them with it if asked', async () => {
    const { project, owner } = await freshProject()
    const keys = `/console/p/${project}/platform/settings/api-keys`
    const rotate = (id: string, by: string) =>
      call(`/platform/v1/api-keys/${id}/rotate`, { method: 'POST', token: by, project })
    const [root, plain, second, spare] = [
      await mint(owner.token, project, { name: 'Root' }),
      await mint(owner.token, project, { name: 'Plain' }),
      await mint(owner.token, project, { name: 'Second <b>', scopes: ORDINARY }),
      await mint(owner.token, project, { name: 'Spare' }),
    ]
    const handed = await rotate(second.key.id, root.secret)
    await rotate(plain.key.id, plain.secret)
    const list = await visit(keys, owner.token)
    expect(list.text).toContain('API key “Root”')
    const issued = [...list.text.matchAll(/Secret issued to ([^<]+)</g)].map(([, holder]) => holder)
    expect(issued).toEqual(['API key “Root”', 'the key itself']) // and the others to whoever created them
    const spared = await visit(`${keys}/${spare.key.id}`, owner.token)
    expect(spared.text).not.toContain('Current secret issued to')

    const alone = await visit(`${keys}/${plain.key.id}/revoke`, owner.token)
    expect(alone.text).not.toContain('name="issued"')
    const question = await visit(`${keys}/${root.key.id}/revoke`, owner.token)
    expect(question.text).toContain('1 other key')
    expect(question.text).toContain('<strong>Second &lt;b&gt;</strong>')
    expect(question.text).not.toContain('Spare')
    expect(question.text).toContain('name="issued"')

    const revoked = await submit(`${keys}/${root.key.id}/revoke`, owner.token, { issued: 'true' })
    expect(revoked.headers.get('Location')).toBe(`${keys}?done=keys_revoked`)
    expect((await call('/platform/v1/api-keys', { token: handed.body.secret, project })).body.code).toBe('key_revoked')
    expect((await call('/platform/v1/api-keys', { token: spare.secret, project })).status).toBe(200)
  })

  it('leaves the keys that a key was handed, unless asked', async () => {
    const { project, owner } = await freshProject()
    const [root, other] = [await mint(owner.token, project), await mint(owner.token, project, { scopes: ORDINARY })]
    const path = `/platform/v1/api-keys/${other.key.id}/rotate`
    const { body } = await call(path, { method: 'POST', token: root.secret, project })
    await submit(`/console/p/${project}/platform/settings/api-keys/${root.key.id}/revoke`, owner.token)
    expect((await call('/platform/v1/api-keys', { token: body.secret, project })).status).toBe(200)
  })

  it.each([
    ['a date alone', { on: NEXT_YEAR }, `${NEXT_YEAR}T23:59:59.999Z`, `${NEXT_YEAR} 23:59:59 UTC`],
    ['a chosen date', { expires: 'date', on: NEXT_YEAR }, `${NEXT_YEAR}T23:59:59.999Z`, `${NEXT_YEAR} 23:59:59 UTC`],
    ['no date', { expires: '', on: '' }, null, 'never expires'],
  ])('accepts %s as the expiry of a key, and shows it with the secret', async (_, fields, expires_at, said) => {
    const minted = await mintByForm({ name: 'Ends', ...fields })
    expect([minted.status, minted.text.includes(said)]).toEqual([201, true])
    const { body } = await call('/platform/v1/api-keys/self', { token: secretIn(minted.text), project })
    expect(body.key.expires_at).toBe(expires_at)
  })

  it('renames a key, and lets it expire earlier', async () => {
    const { key } = await mint(token, project, { name: 'Before <b>' })
    const edit = `${keys}/${key.id}/edit`
    const read = async () => (await call(`/platform/v1/api-keys/${key.id}`, { token, project })).body
    expect((await visit(keys, token)).text).toContain(`href="${edit}">`) // a page, not a dialog
    const form = await visit(edit, token)
    expect(form.text).toContain('value="Before &lt;b&gt;"')
    expect(form.text).toContain('The key never expires')
    const done = await submit(edit, token, { name: 'After', expires: '', on: '' })
    expect([done.status, done.headers.get('Location')]).toEqual([303, `${keys}/${key.id}?done=key_updated`])
    expect(await read()).toMatchObject({ name: 'After', expires_at: null })
    await submit(edit, token, { name: 'After', expires: '', on: NEXT_YEAR })
    expect(await read()).toMatchObject({ name: 'After', expires_at: `${NEXT_YEAR}T23:59:59.999Z` })
    await submit(edit, token, { name: 'Shorter', expires: '30' })
    const ends = Date.parse((await read()).expires_at) - Date.now()
    expect([ends > 29 * DAY, ends <= 30 * DAY]).toEqual([true, true])
    const options = [...(await visit(edit, token)).text.matchAll(/<option value="(\w*)"/g)].map(([, value]) => value)
    expect(options).toEqual(['', '7', 'date']) // 30 days are no longer earlier
  })

  it.each([
    [{ name: '' }, 'not be empty', ''],
    [{ name: 'x'.repeat(101) }, 'at most 100 characters', 'x'.repeat(101)],
    [{ name: 'New', expires: 'date', on: '' }, 'Pick a date', 'New'],
    [{ name: 'New', expires: '', on: '2001-01-01' }, 'in the future', 'New'],
    [{ name: 'New', expires: '', on: NEXT_YEAR }, 'must not be later than the key expires now', 'New'],
    [{ name: 'New', expires: '365' }, 'must not be later than the key expires now', 'New'],
  ])('changes nothing of a key with %o, says why, and keeps the input', async (fields, message, name) => {
    const { key } = await mint(token, project, {
      name: 'Same',
      expires_at: new Date(Date.now() + 60 * DAY).toISOString(),
    })
    const refused = await submit(`${keys}/${key.id}/edit`, token, fields)
    expect([refused.status, refused.text.toLowerCase().includes(message.toLowerCase())]).toEqual([422, true])
    expect(refused.text).toContain(`value="${name}"`)
    expect((await call(`/platform/v1/api-keys/${key.id}`, { token, project })).body).toEqual(key)
  })

  it('has no form for a key that was revoked', async () => {
    const { key } = await mint(token, project)
    await submit(`${keys}/${key.id}/revoke`, token)
    expect((await visit(`${keys}/${key.id}/edit`, token)).status).toBe(404)
    expect((await submit(`${keys}/${key.id}/edit`, token, { name: 'Late' })).status).toBe(404)
  })

  it.each([
    [{ name: '' }, 'not be empty'],
    [{ name: 'x'.repeat(101) }, 'at most 100 characters'],
    [{ name: 'Kept', scope: 'everything' }, 'Select at least one scope'],
    [{ name: 'Kept', expires: 'date', on: '' }, 'Pick a date'],
    [{ name: 'Kept', expires: 'date', on: '2001-01-01' }, 'in the future'],
    [{ name: 'Kept', expires: '-5' }, 'in the future'],
    [{ name: 'Kept', expires: '', on: '2001-01-01' }, 'in the future'],
    [{ name: 'Kept', expires: '', on: 'soon' }, 'Pick a date'],
    [{ name: 'Kept', expires: '30', on: '2001-01-01' }, 'Clear the date'],
  ])('shows what is wrong with %o, and keeps the input', async (fields, message) => {
    const answer = await mintByForm(fields)
    expect(answer.status).toBe(422)
    expect(answer.text.toLowerCase()).toContain(message.toLowerCase())
    expect(answer.text).toContain(`value="${fields.name}"`)
    expect(secretIn(answer.text)).toBe('')
  })
})
