import { expect, it } from 'vitest'
import { rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { newApi } from './devices'

/* Calls that are made at once, on a real D1. */

const ROUNDS = 10
const times = (n: number) => Array.from({ length: n }, (_, k) => k)
const statesOf = async (project: string) => {
  const found = await rows<{ state: string }>('SELECT state FROM devices WHERE project_id = ?', project)
  const count = (state: string) => found.filter((one) => one.state === state).length
  return { active: count('active'), revoked: count('revoked') }
}

it('20 registrations under a limit of 5: five devices, and the others are refused', async () => {
  const { project, api } = await newApi(5)
  const answers = await Promise.all(times(20).map((n) => api.register('ext:u', `i-${n}`)))
  const codes = answers.map((one) => String(told(one))).sort()
  expect(codes).toEqual([...Array(5).fill('201,'), ...Array(15).fill('409,device_limit_reached')])
  expect(await statesOf(project)).toEqual({ active: 5, revoked: 0 })
})

it('20 registrations that replace, under a limit of 5: all are registered, and the last five stay', async () => {
  const { project, api } = await newApi(5)
  const answers = await Promise.all(
    times(20).map((n) => api.register('ext:u', `i-${n}`, { when_full: 'replace_oldest' })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect(await statesOf(project)).toEqual({ active: 5, revoked: 15 })
  const log = await rows<{ object_id: string }>(
    "SELECT object_id FROM audit_log WHERE project_id = ? AND action = 'device.revoked'",
    project,
  )
  expect(new Set(log.map(({ object_id }) => object_id)).size).toBe(15)
  expect(log).toHaveLength(15)
})

it('one installation, registered many times: one device, and one token', async () => {
  const { project, api } = await newApi(5)
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await Promise.all(times(4).map((n) => api.register('ext:u', `i-${round % 5}`, { name: `n${n}` })))
    const tokens = answers.flatMap(({ body }) => body.token ?? [])
    expect([tokens.length, new Set(answers.map(({ body }) => body.device.id)).size]).toEqual([round < 5 ? 1 : 0, 1])
  }
  expect(await statesOf(project)).toEqual({ active: 5, revoked: 0 })
})

it('one installation gets new tokens: the last one is valid, the others are not', async () => {
  const { api } = await newApi(5)
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await Promise.all(times(4).map(() => api.register('ext:u', 'i', { new_token: true })))
    const verified = await Promise.all(answers.map(({ body }) => api.verify(body.token)))
    expect(verified.filter(({ body }) => body.valid)).toHaveLength(1)
  }
})

it('registered while the consumer is blocked: the device is not valid, or was refused', async () => {
  const { project, api } = await newApi(100)
  for (let round = 0; round < ROUNDS; round++) {
    const [registered] = await Promise.all([api.register('ext:u', `i-${round}`), api.block('ext:u')])
    expect(['201,', '409,consumer_blocked']).toContain(String(told(registered)))
    if (registered.status === 201)
      expect((await api.verify(registered.body.token)).body.reason).toBe('consumer_blocked')
    else
      expect(
        await rows('SELECT 1 FROM devices WHERE installation_id = ? AND project_id = ?', `i-${round}`, project),
      ).toEqual([])
    await api.block('ext:u', 'unblock')
  }
})

it('registered while the consumer is merged: the device is the survivor’s, or was refused', async () => {
  const { project, api } = await newApi(100)
  const into = (await api.consumer('into')).body.id
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = (await api.consumer(`from-${round}`)).body
    const [byId, byName] = await Promise.all([
      api.register(id, `a-${round}`),
      api.register(`ext:from-${round}`, `b-${round}`),
      api.merge(id, into),
    ])
    expect(['201,', '409,consumer_merged']).toContain(String(told(byId)))
    // The external id moves with the merge, so a call by it finds either consumer.
    expect(told(byName)).toEqual([201, null])
  }
  const owners = await rows('SELECT DISTINCT consumer_id FROM devices WHERE project_id = ?', project)
  expect(owners).toEqual([{ consumer_id: into }])
})

it('revoked while it is registered again: it stays revoked', async () => {
  const { api } = await newApi(100)
  for (let round = 0; round < ROUNDS; round++) {
    const { body } = await api.register('ext:u', `i-${round}`)
    const [renewed, revoked] = await Promise.all([
      api.register('ext:u', `i-${round}`, { new_token: true }),
      api.revoke('ext:u', body.device.id),
    ])
    expect(revoked.status).toBe(204)
    expect(['200,', '409,device_revoked']).toContain(String(told(renewed)))
    const token = renewed.body.token ?? body.token
    expect((await api.verify(token)).body.reason).toBe('revoked')
  }
})
