import { expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { bound, call, deliver, freshKey, LIMITER_OUT, lossyQueue, stripeConnection, stripeEvent } from '../harness'
import { captureLog } from '../inbox/pipeline'

const KEYS = '/platform/v1/api-keys'

it('lets requests through, and says so in the log, while a limiter fails', async () => {
  const log = captureLog()
  const { project, secret } = await freshKey()
  const connection = await stripeConnection(secret, project)
  const { EVENTS } = lossyQueue()
  const requests = {
    LIMIT_PUBLIC: (bindings: object) => call(`/p/${project}/jwks.json`, { bindings }),
    LIMIT_CREDENTIAL: (bindings: object) => call(KEYS, { project, token: secret, bindings }),
    LIMIT_INGEST: (bindings: object) => deliver(connection.id, stripeEvent(), { bindings }),
    LIMIT_SIGN_IN: (bindings: object) =>
      call('/auth/codes', { method: 'POST', json: { email: 'limited@example.com' }, bindings }),
  }
  for (const [name, request] of Object.entries(requests)) {
    const before = log.of('rate_limit_not_checked').length
    const { status } = await request({ EVENTS, [name]: LIMITER_OUT })
    expect([name, status]).toEqual([name, name === 'LIMIT_SIGN_IN' ? 202 : 200])
    expect(log.of('rate_limit_not_checked').length).toBeGreaterThan(before)
  }
})

it('refuses a wrong secret as what it is while the limiter of failures fails', async () => {
  const log = captureLog()
  const { project } = await freshKey()
  const { secret: token } = await newSecret(0)
  const answer = await call(KEYS, { project, token, bindings: { ...bound, LIMIT_AUTH_FAILURE: LIMITER_OUT } })
  expect([answer.status, answer.body.code]).toEqual([401, 'unknown_key'])
  expect(log.of('rate_limit_not_checked')).toMatchObject([{ level: 'error' }])
})
