import { expect, it } from 'vitest'
import { call, deliver, freshKey, settled, stripeConnection, stripeEvent } from './harness'

it('mints, uses, rotates and revokes a key; receives, processes, lists and replays an event', async () => {
  const { project, owner, key, secret } = await freshKey()
  const listed = await call('/platform/v1/api-keys', { token: secret, project })
  expect(listed.body.data.map(({ id }) => id)).toEqual([key.id])
  const connection = await stripeConnection(secret, project)
  const event = stripeEvent()
  const receipt = await deliver(connection.id, event)
  expect(receipt.body).toMatchObject({ duplicate: false })
  const id = receipt.body.event_ids[0]
  const done = await settled(project, secret, id)
  expect(done).toMatchObject({ status: 'processed', processing_attempts: 1, last_error: null })
  expect(atob(done.raw_payload_b64)).toBe(JSON.stringify(event))
  const replay = await call(`/platform/v1/billing/webhooks/${id}/replay`, { method: 'POST', token: secret, project })
  expect(replay.status).toBe(202)
  expect((await settled(project, secret, id)).processing_attempts).toBe(2)
  const rotated = await call(`/platform/v1/api-keys/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
  expect(rotated.status).toBe(200)
  expect((await call('/platform/v1/api-keys', { token: secret, project })).body.code).toBe('key_rotated')
})
