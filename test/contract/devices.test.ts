import { describe, expect, it } from 'vitest'
import { call, freshKey } from '../harness'

describe('devices', () => {
  it('[devices.1] belong to consumers, and are managed with a session and with a key', async () => {
    const { project, owner, secret } = await freshKey()
    const consumer = '/platform/v1/consumers/ext:user'
    await call(consumer, { method: 'PUT', project, token: secret, json: {} })
    for (const [n, token] of [owner.token, secret].entries()) {
      const path = `${consumer}/devices/installation-${n}`
      const made = await call(path, { method: 'PUT', project, token, json: { platform: 'ios' } })
      expect(made.status).toBe(201)
      const json = { token: made.body.token }
      const verified = await call('/platform/v1/devices/verify', { method: 'POST', project, token, json })
      expect(verified.body).toMatchObject({ valid: true, consumer: { external_id: 'user' } })
    }
  })
})
