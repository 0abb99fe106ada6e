import { describe, expect, it } from 'vitest'
import { call, freshKey } from '../harness'

describe('consumers', () => {
  it('[consumers.1] are managed with a session and with a key, under ids of our own and of the product', async () => {
    const { project, owner, secret } = await freshKey()
    for (const [n, token] of [owner.token, secret].entries()) {
      const path = `/platform/v1/consumers/ext:user-${n}`
      const made = await call(path, { method: 'PUT', project, token, json: { name: 'Ada' } })
      expect([made.status, made.body.external_id]).toEqual([201, `user-${n}`])
      expect((await call(`/platform/v1/consumers/${made.body.id}`, { project, token })).body).toMatchObject(made.body)
    }
  })
})
