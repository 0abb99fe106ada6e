import { beforeEach, describe, expect, it } from 'vitest'
import { addMember, call, freshProject, mint, STORE, storedText } from '../harness'
import { formToken, submit, visit } from './visit'

/** A secret is shown once, in response to the form that makes it. A form that is sent again makes no other. */

let project: string
let token: string
let keys: string
beforeEach(async () => {
  const made = await freshProject()
  project = made.project
  token = made.owner.token
  keys = keysOf(project)
})

const keysOf = (project: string) => `/console/p/${project}/platform/settings/api-keys`
const secretIn = (text: string) => /svc_v1_[0-9a-f]{96}/.exec(text)?.[0]
const fieldIn = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''

/** The form of a new key, filled in. */
async function filled(path = keys, by = token) {
  const { text } = await visit(`${path}/new`, by)
  const form_token = await formToken(by)
  return { form_token, once: fieldIn(text, 'once'), name: 'Once', preset: 'billing', expires: '90', on: '' }
}

async function minted(): Promise<number> {
  const count = 'SELECT count(*) AS n FROM audit_log WHERE project_id = ? AND action = ?'
  return (await STORE.prepare(count).bind(project, 'api_key.minted').first<{ n: number }>())?.n ?? 0
}

describe('the form of a new key', () => {
  it('makes one key, however often it is sent, and shows its secret once', async () => {
    const form = await filled()
    const first = await visit(keys, token, { form })
    const secret = secretIn(first.text) ?? ''
    expect([first.status, secret.length]).toEqual([201, 103])
    expect(JSON.stringify([...first.headers])).not.toContain(secret.slice(7))
    const { data } = (await call('/platform/v1/api-keys', { token, project })).body
    const page = `${keys}/${data[0].id}`
    for (const name of ['Once', 'Another name']) {
      const again = await visit(keys, token, { form: { ...form, name } })
      expect([again.status, again.headers.get('Location')]).toEqual([303, `${page}?done=key_created_before`])
      expect(again.text).toBe('')
    }
    const shown = await visit(`${page}?done=key_created_before`, token)
    expect(shown.text).toContain('This key already exists')
    expect(shown.text).not.toContain(secret)
    expect(await minted()).toBe(1)
    expect(await storedText()).not.toContain(secret.slice(7))

    // Not even after the key was revoked.
    await submit(`${page}/revoke`, token)
    expect((await visit(keys, token, { form })).status).toBe(303)
    expect(await minted()).toBe(1)
    expect((await call('/platform/v1/api-keys', { token, project })).body.data).toEqual([])
  })

  it('makes one key if it is sent several times at once', async () => {
    const form = await filled()
    const answers = await Promise.all(Array.from({ length: 5 }, () => visit(keys, token, { form })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 303, 303, 303, 303])
    expect(answers.filter(({ text }) => secretIn(text))).toHaveLength(1)
    expect(await minted()).toBe(1)
  })

  it('makes another key if it is opened again', async () => {
    for (const _ of [1, 2]) expect((await visit(keys, token, { form: await filled() })).status).toBe(201)
    expect(await minted()).toBe(2)
  })

  it('accepts no id that was not made for this session and project', async () => {
    const form = await filled()
    const other = await freshProject()
    const colleague = await addMember(project, 'owner')
    const [id, mac] = form.once.split('.')
    const elsewhere = await mint(other.owner.token, other.project)
    const tried = [
      '',
      'key_1',
      id ?? '',
      `${id}.`,
      `${elsewhere.key.id}.${mac}`,
      `${id}.${'0'.repeat(64)}`,
      (await filled(keys, colleague.token)).once,
      (await filled(keysOf(other.project), other.owner.token)).once,
    ]
    for (const once of tried) {
      expect([once, (await visit(keys, token, { form: { ...form, once } })).status]).toEqual([once, 403])
    }
    expect(await minted()).toBe(0)
  })

  it('makes a key after a mistake was corrected', async () => {
    const form = await filled()
    const wrong = await visit(keys, token, { form: { ...form, name: '' } })
    expect(wrong.status).toBe(422)
    const once = fieldIn(wrong.text, 'once')
    expect((await visit(keys, token, { form: { ...form, once } })).status).toBe(201)
  })
})

describe('the form that rotates a key', () => {
  it('rotates it once, however often it is sent', async () => {
    const { key, secret } = await mint(token, project)
    const path = `${keys}/${key.id}/rotate`
    const form = { form_token: await formToken(token), known: fieldIn((await visit(path, token)).text, 'known') }
    const answers = await Promise.all(Array.from({ length: 4 }, () => visit(path, token, { form })))
    const [fresh, ...none] = answers.map(({ text }) => secretIn(text)).filter(Boolean)
    expect([none, answers.map(({ status }) => status).sort()]).toEqual([[], [200, 303, 303, 303]])
    const again = await visit(path, token, { form })
    expect(again.headers.get('Location')).toBe(`${keys}/${key.id}?done=key_rotated_before`)
    expect((await visit(again.headers.get('Location') ?? '', token)).text).toContain('Nothing was changed: the key')
    const self = async (by: string | undefined) =>
      (await call('/platform/v1/api-keys/self', { token: by ?? '', project })).status
    expect([await self(secret), await self(fresh)]).toEqual([401, 200])
    // A page that was opened since rotates it again.
    const known = fieldIn((await visit(path, token)).text, 'known')
    expect(secretIn((await visit(path, token, { form: { ...form, known } })).text)).toBeDefined()
    expect(await self(fresh)).toBe(401)
  })
})
