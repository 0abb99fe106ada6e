import { expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { call, countingD1, freshAddress, freshKey } from '../harness'

it('limits requests by credential: 600 a minute', async () => {
  const { project, secret } = await freshKey()
  const other = await freshKey()
  let refused = 0
  for (let i = 0; i < 1240 && refused === 0; i += 20) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('/platform/v1/projects?cursor=AAAA', { token: secret, project })),
    )
    refused = answers.filter(({ status }) => status === 429).length
  }
  expect(refused).toBeGreaterThan(0)
  const answer = await call('/platform/v1/projects', { token: secret, project })
  expect([answer.status, answer.body.code, Number(answer.headers.get('Retry-After'))]).toEqual([
    429,
    'rate_limited',
    10,
  ])
  expect((await call('/platform/v1/projects', { token: other.secret, project: other.project })).status).toBe(200)
})

it('blocks an address after 20 failed authentications a minute, before the database is asked, for ten seconds', async () => {
  const { project, secret } = await freshKey()
  const neighbour = await freshKey()
  const address = { 'CF-Connecting-IP': freshAddress() }
  const asked = { token: neighbour.secret, project: neighbour.project, headers: address }
  expect((await call('/platform/v1/projects', asked)).status).toBe(200)
  // A window of the limiter may end under us: it takes 20 failures, or at most as many again.
  let failures = 0
  let code = ''
  while (code !== 'rate_limited' && failures <= 41) {
    code = (await call('/platform/v1/projects', { token: (await newSecret()).secret, project, headers: address })).body
      .code
    failures += 1
  }
  expect(code).toBe('rate_limited')
  expect(failures).toBeGreaterThan(20)
  const { DB, count } = countingD1()
  const blocked = await call('/platform/v1/projects', { token: secret, project, headers: address, bindings: { DB } })
  expect([blocked.status, count.statements]).toEqual([429, 0])
  expect((await call('/platform/v1/projects', { token: secret, project })).status).toBe(200)
  // A key that was seen authenticated here works on behind the same address, until it is revoked; then it is as any other.
  expect((await call('/platform/v1/projects', asked)).status).toBe(200)
  const { id } = (await call('/platform/v1/api-keys/self', asked)).body.key
  expect((await call(`/platform/v1/api-keys/${id}`, { method: 'DELETE', ...asked })).status).toBe(204)
  expect((await call('/platform/v1/projects', asked)).body.code).toBe('key_revoked')
  expect((await call('/platform/v1/projects', asked)).body.code).toBe('rate_limited')
})

it('limits sign-in requests by address: 10 a minute', async () => {
  const headers = { 'CF-Connecting-IP': freshAddress() }
  let answered = 0
  let status = 401
  while (status === 401 && answered <= 21) {
    status = (await call('/auth/sessions', { method: 'POST', json: { challenge: 'x', code: 'y' }, headers })).status
    answered += 1
  }
  expect(status).toBe(429)
  expect(answered).toBeGreaterThan(10)
})
