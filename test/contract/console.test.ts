import { describe, expect, it } from 'vitest'
import { submit, visit } from '../console/visit'
import { call, freshProject } from '../harness'
import { KEYS } from './api'

describe('the console', () => {
  it('[console.1] mints, lists, rotates and revokes keys at its path', async () => {
    const { project, owner } = await freshProject()
    const path = `/console/p/${project}/platform/settings/api-keys`
    const secretIn = ({ text }: Awaited<ReturnType<typeof submit>>) => /svc_v1_[0-9a-f]{96}/.exec(text)?.[0] ?? ''
    const works = async (secret: string) => (await call(KEYS, { token: secret, project })).status

    const first = secretIn(await submit(path, owner.token, { name: 'from the console', scope: 'api_keys:read' }))
    expect(await works(first)).toBe(200)
    const list = await visit(path, owner.token)
    expect(list.text).toContain('from the console')
    const id = /api-keys\/(key_\w+)\/rotate/.exec(list.text)?.[1]
    const second = secretIn(await submit(`${path}/${id}/rotate`, owner.token))
    expect([await works(first), await works(second)]).toEqual([401, 200])
    await submit(`${path}/${id}/revoke`, owner.token)
    expect(await works(second)).toBe(401)
  })
})
