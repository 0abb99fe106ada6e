import { describe, expect, it } from 'vitest'
import { call, freshKey } from '../harness'
import { submit, visit } from './visit'

/** The page that rotates a key, and the secrets that the page of the key shows while it is being rotated. */

async function newWorld() {
  const { project, owner, key, secret } = await freshKey()
  const path = `/console/p/${project}/platform/settings/api-keys/${key.id}`
  const says = async (token: string) => (await call('/platform/v1/api-keys/self', { token, project })).status
  const rotate = async (fields: Record<string, string>) => {
    const answer = await submit(`${path}/rotate`, owner.token, fields)
    return { ...answer, secret: /svc_v1_[0-9a-f]{96}/.exec(answer.text)?.[0] ?? '' }
  }
  /** The rows of the table of secrets: the prefix and the text of each. */
  const secrets = async () => {
    const { text } = await visit(path, owner.token)
    const [, table = ''] = /<h2>Secrets<\/h2>(.*?)<\/table>/s.exec(text) ?? []
    const rows = table.split('<tr').slice(2)
    return rows.map((row) => row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '))
  }
  return { owner, key, secret, path, says, rotate, secrets }
}
const prefixOf = (secret: string) => `${secret.slice(0, 11)}…${secret.slice(-4)}`

describe('rotating in the console', () => {
  it('asks when the new secret replaces the old one, first when servers use it', async () => {
    const { owner, path } = await newWorld()
    const { text } = await visit(`${path}/rotate`, owner.token)
    const choices = [...text.matchAll(/<input type="radio" name="when" value="(\w+)"( checked="")?/g)]
    expect(choices.map(([, value, checked]) => [value, checked !== undefined])).toEqual([
      ['first_use', true],
      ['now', false],
    ])
  })

  it('shows the secrets of a key with their last use, and ends each', async () => {
    const { owner, key, secret, path, says, rotate, secrets } = await newWorld()
    expect(await secrets()).toEqual([])
    const fresh = await rotate({ when: 'first_use', grace_s: '300' })
    expect([fresh.status, await says(secret)]).toEqual([200, 200])
    expect(fresh.text).toContain('The old secret works until a request uses this one.')
    const waiting = await secrets()
    expect(waiting).toHaveLength(2)
    expect(waiting[0]).toContain(`${key.key_prefix}`)
    expect(waiting[1]).toContain(prefixOf(fresh.secret))
    expect(waiting[1]).toMatch(new RegExp(`becomes current when first used.*Issued to ${owner.email}.*never.*End`))
    expect(await says(fresh.secret)).toBe(200)
    const replaced = await secrets()
    expect(replaced[0]).toMatch(/current .*just now/)
    expect(replaced[1]).toMatch(/replaced: works until .*just now.*End/)
    const ended = await submit(`${path}/end-previous`, owner.token)
    expect(ended.headers.get('Location')).toBe(`${path}?done=previous_secret_ended`)
    expect([await says(secret), await says(fresh.secret), await secrets()]).toEqual([401, 200, []])

    const other = await rotate({ when: 'first_use' })
    expect((await submit(`${path}/end-pending`, owner.token)).headers.get('Location')).toContain('pending_secret_ended')
    expect([await says(other.secret), await says(fresh.secret), await secrets()]).toEqual([401, 200, []])
  })

  it('does not replace a secret that waits if the form is sent again', async () => {
    const { owner, key, path, rotate, says } = await newWorld()
    const known = key.key_prefix
    const fresh = await rotate({ when: 'first_use', known })
    const again = await rotate({ when: 'first_use', known })
    expect([again.status, again.headers.get('Location')]).toEqual([303, `${path}?done=key_rotated_before`])
    const { text } = await visit(`${path}/rotate`, owner.token)
    expect(text).toContain(`name="known" value="${known} ${prefixOf(fresh.secret)}"`)
    expect(await says(fresh.secret)).toBe(200)
  })

  it.each([{ when: 'later' }, { when: 'now', grace_s: '86401' }, { grace_s: 'x' }])('refuses %j', async (fields) => {
    const { rotate, says, secret } = await newWorld()
    expect((await rotate(fields as Record<string, string>)).status).toBe(422)
    expect(await says(secret)).toBe(200)
  })
})
