import { beforeEach, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { tamperedD1 } from '../harness'
import { rows } from '../inbox/pipeline'
import { newApi } from './devices'

/* The tokens of a device besides its current one are ended before their time. */

beforeEach(() => {
  stopClock()
})

/** A key of `ext:u` in the middle of a rotation: with a token that was replaced, the current one, and one that waits. */
async function rotating() {
  const { api, project, consumer } = await newApi()
  const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
  const current = (await api.rotate('ext:u', device.id, { grace_s: 3600 })).body.token as string
  const waiting = (await api.rotate('ext:u', device.id, { when: 'first_use' })).body.token as string
  const says = (one: string) => api.verify(one).then(({ body }) => body.reason as string | null)
  const end = (which: 'pending' | 'previous', options = {}) => api.end('ext:u', device.id, which, options)
  const shown = async () => (await api.one('ext:u', device.id)).body
  const entries = () =>
    rows<{ action: string; details: string }>(
      "SELECT action, details FROM audit_log WHERE project_id = ? AND action LIKE '%token_ended'",
      project,
    )
  return { api, project, consumer, device, old: token as string, current, waiting, says, end, shown, entries }
}
const prefix = (token: string) => `${token.slice(0, 11)}…${token.slice(-4)}`

it('ends the token that waits, and no other', async () => {
  const { consumer, old, current, waiting, says, end, shown, entries } = await rotating()
  expect((await end('pending')).status).toBe(204)
  expect([await says(waiting), await says(current), await says(old)]).toEqual(['unknown', null, null])
  expect(await shown()).toMatchObject({ pending: null, previous: { token_prefix: prefix(old) } })
  expect((await end('pending')).status).toBe(204)
  const details = JSON.stringify({ consumer, token_prefix: prefix(waiting) })
  expect(await entries()).toEqual([{ action: 'device.pending_token_ended', details }])
})

it('ends the previous token, and no other', async () => {
  const { consumer, old, current, waiting, says, end, shown, entries } = await rotating()
  expect((await end('previous')).status).toBe(204)
  expect([await says(old), await says(current)]).toEqual(['unknown', null])
  expect(await shown()).toMatchObject({ previous: null, pending: { token_prefix: prefix(waiting) } })
  expect(await says(waiting)).toBe(null)
  expect((await end('previous')).status).toBe(204)
  const details = JSON.stringify({ consumer, token_prefix: prefix(old) })
  expect(await entries()).toEqual([{ action: 'device.previous_token_ended', details }])
})

it('changes nothing where there is no such token any more', async () => {
  const { api, device, current, end, entries, says } = await rotating()
  advance(7 * 24 * 60 * MINUTE)
  expect([(await end('pending')).status, (await end('previous')).status]).toEqual([204, 204])
  await api.revoke('ext:u', device.id)
  expect([(await end('pending')).status, await entries(), await says(current)]).toEqual([204, [], 'revoked'])
  expect((await api.end('ext:u', 'dev_none', 'pending')).status).toBe(404)
  expect((await api.end('ext:nobody', device.id, 'pending')).status).toBe(404)
})

it('finds no device of another consumer or project', async () => {
  const { api, device, waiting, says } = await rotating()
  const other = await newApi()
  await api.consumer('v')
  expect((await api.end('ext:v', device.id, 'pending')).status).toBe(404)
  expect((await other.api.end('ext:u', device.id, 'pending')).status).toBe(404)
  expect(await says(waiting)).toBe(null)
})

it('works while the consumer is blocked', async () => {
  const { api, end, old, says } = await rotating()
  await api.block('ext:u')
  expect([(await end('pending')).status, (await end('previous')).status]).toEqual([204, 204])
  await api.block('ext:u', 'unblock')
  expect(await says(old)).toBe('unknown')
})

it.each([
  ['pending', 'used', 409],
  ['pending', 'replaced', 204],
  ['previous', 'replaced', 409],
] as const)('of a %s token answers truly if the new one was %s meanwhile: %i', async (which, what, status) => {
  const { api, device, waiting, end, entries, old, says } = await rotating()
  let reads = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (/update "devices"/i.test(sql) && reads++ === 0) {
      if (what === 'used') await api.verify(waiting)
      else await api.rotate('ext:u', device.id, { when: 'first_use' })
    }
    return run()
  })
  const answer = await end(which, { bindings: { DB } })
  expect([answer.status, await entries()]).toEqual([status, []])
  if (status === 409) expect(answer.body.code).toBe('rotation_conflict')
  if (what === 'replaced') expect([await says(waiting), await says(old)]).toEqual(['unknown', null])
})
