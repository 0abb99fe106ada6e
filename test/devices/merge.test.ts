import { expect, it } from 'vitest'
import { deleteDevices } from '../../src/consumers/devices'
import { MAX_REVOKED } from '../../src/consumers/limits'
import { type Db, openDb, run } from '../../src/db/client'
import { STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { newApi } from './devices'
import { insertDevice, insertDevices } from './rows'

it('moves the devices, whose tokens stay valid', async () => {
  const { api, consumer } = await newApi()
  const into = (await api.consumer('into')).body.id
  const one = await api.register('ext:u', 'one')
  const two = await api.register('ext:into', 'two')
  await api.merge('ext:u', 'ext:into')
  for (const { body } of [one, two]) {
    const verified = (await api.verify(body.token)).body
    expect(verified).toMatchObject({ valid: true, device: { id: body.device.id }, consumer: { id: into } })
  }
  expect((await api.list('ext:u')).body.data).toHaveLength(2)
  expect(told(await api.list(consumer))).toEqual([409, 'consumer_merged'])
  expect((await api.revoke('ext:u', one.body.device.id)).status).toBe(204)
})

it('keeps, of two devices with one installation id, the one that was seen later', async () => {
  const { project, api, consumer } = await newApi()
  const into = (await api.consumer('into')).body.id
  const pairs = [
    ['moved', 2, 1],
    ['stayed', 1, 2],
    ['same', 1, 1],
  ] as const
  for (const [installation_id, moving, staying] of pairs) {
    await insertDevice(project, consumer, { id: `from-${installation_id}`, installation_id, last_seen_at: moving })
    await insertDevice(project, into, { id: `into-${installation_id}`, installation_id, last_seen_at: staying })
  }
  // The state makes no difference.
  await insertDevice(project, consumer, {
    id: 'from-ended',
    installation_id: 'ended',
    last_seen_at: 2,
    state: 'revoked',
  })
  await insertDevice(project, into, { id: 'into-ended', installation_id: 'ended', last_seen_at: 1 })
  expect((await api.merge(consumer, into)).status).toBe(200)
  const left = await rows('SELECT id, consumer_id FROM devices WHERE project_id = ? ORDER BY id', project)
  expect(left).toEqual(
    ['from-ended', 'from-moved', 'into-same', 'into-stayed'].map((id) => ({ id, consumer_id: into })),
  )
})

it('may exceed the limit, and then nothing is registered', async () => {
  const { project, api, consumer } = await newApi(3)
  const into = (await api.consumer('into')).body.id
  for (const owner of [consumer, into]) for (let n = 0; n < 3; n++) await insertDevice(project, owner)
  await api.merge(consumer, into)
  expect((await api.get(into)).body.devices).toEqual({ active: 6, limit: 3 })
  expect(told(await api.register(into, 'new'))).toEqual([409, 'device_limit_reached'])
})

it('keeps the newest revoked devices of both', async () => {
  const { project, api, consumer } = await newApi()
  const into = (await api.consumer('into')).body.id
  await insertDevices(project, consumer, 'revoked', MAX_REVOKED)
  const id = await insertDevice(project, into, { state: 'revoked' })
  await api.merge(consumer, into)
  const left = await rows<{ id: string }>('SELECT id FROM devices WHERE consumer_id = ? ORDER BY id DESC', into)
  expect([left.length, left[0]?.id]).toEqual([MAX_REVOKED, id])
})

it('leaves the rows of other consumers when those of one are deleted', async () => {
  const { project, api, consumer } = await newApi()
  const { body } = await api.register('ext:u', 'one')
  await insertDevice(project, consumer, { state: 'revoked' })
  await api.consumer('other')
  await api.register('ext:other', 'two')
  const db = openDb<Db>(STORE)
  await run(db, deleteDevices(db, project, consumer))
  expect(await rows('SELECT installation_id FROM devices WHERE project_id = ?', project)).toEqual([
    { installation_id: 'two' },
  ])
  expect((await api.verify(body.token)).body).toMatchObject({ valid: false, reason: 'unknown', device: null })
})
