import { expect, it } from 'vitest'
import { call, freshKey, tamperedD1 } from '../harness'

const KEYS = '/platform/v1/api-keys'

it('a key that rotates itself while somebody else rotates it is told of the conflict, not that its secret is old', async () => {
  const { project, owner, key, secret } = await freshKey()
  const rotate = (token: string, DB?: D1Database) =>
    call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token, ...(DB && { bindings: { DB } }) })
  let first = true
  const DB = tamperedD1(async ({ sql, run }) => {
    if (first && /update "api_keys" set "key_prefix"/i.test(sql)) {
      first = false
      expect((await rotate(owner.token)).status).toBe(200)
    }
    return run()
  })
  const late = await rotate(secret, DB)
  expect([late.status, late.body.code]).toEqual([409, 'rotation_conflict'])
})
