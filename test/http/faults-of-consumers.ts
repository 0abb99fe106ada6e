import { insertConsumer, insertLink, insertMerged } from '../consumers/rows'
import { insertDevice, insertDevices } from '../devices/rows'
import { call, freshKey } from '../harness'

const CONSUMERS = '/platform/v1/consumers'

/** For each fault of consumers, a request that is refused with it. */
export const OF_CONSUMERS = {
  external_id_taken: async () => {
    const { project, secret } = await freshKey()
    await insertConsumer(project, 'taken')
    return call(CONSUMERS, { method: 'POST', project, token: secret, json: { external_id: 'taken' } })
  },
  external_id_limit_reached: async () => {
    const { project, secret } = await freshKey()
    await insertConsumer(project, ...Array.from({ length: 100 }, (_, n) => `id-${n}`))
    const json = { external_id: 'one-too-many' }
    return call(`${CONSUMERS}/ext:id-0`, { method: 'PATCH', project, token: secret, json })
  },
  merge_limit_reached: async () => {
    const { project, secret } = await freshKey()
    const survivor = await insertConsumer(project, 'survivor')
    await insertConsumer(project, 'last')
    await insertMerged(project, survivor, 1000)
    const json = { into: survivor }
    return call(`${CONSUMERS}/ext:last/merge`, { method: 'POST', project, token: secret, json })
  },
  pin_limit_reached: async () => {
    const { project, secret } = await freshKey()
    const consumer = await insertConsumer(project, 'one')
    for (let n = 0; n < 100; n++) await insertLink(project, `cus_${n}`, { pinned: consumer })
    const path = '/platform/v1/billing/customers/stripe/cus_new'
    return call(path, { method: 'PUT', project, token: secret, json: { consumer } })
  },
  consumer_merged: async () => {
    const { project, secret } = await freshKey()
    const [merged] = await insertMerged(project, await insertConsumer(project, 'survivor'), 1)
    return call(`${CONSUMERS}/${merged}`, { project, token: secret })
  },
  consumer_erased: async () => {
    const { project, secret } = await freshKey()
    const path = `${CONSUMERS}/${await insertConsumer(project, 'erased')}`
    await call(path, { method: 'DELETE', project, token: secret })
    return call(path, { method: 'PATCH', project, token: secret, json: { name: 'New' } })
  },
  consumer_blocked: async () => {
    const { project, secret } = await freshKey()
    const id = await insertConsumer(project, 'one')
    await call(`${CONSUMERS}/${id}/block`, { method: 'POST', project, token: secret, json: {} })
    return register(project, secret, 'new')
  },
  device_revoked: async () => {
    const { project, secret } = await freshKey()
    const id = await insertDevice(project, await insertConsumer(project, 'one'), { state: 'revoked' })
    return register(project, secret, id)
  },
  device_limit_reached: async () => {
    const { project, secret } = await freshKey()
    await insertDevices(project, await insertConsumer(project, 'one'), 'active', 100)
    return register(project, secret, 'new')
  },
  precondition_failed: async () => {
    const { project, secret } = await freshKey()
    const id = await insertConsumer(project, 'one')
    const headers = { 'If-Match': '"0"' }
    return call(`${CONSUMERS}/${id}`, { method: 'PATCH', project, token: secret, json: { name: 'New' }, headers })
  },
}

function register(project: string, token: string, installation: string) {
  const json = { platform: 'ios' }
  return call(`${CONSUMERS}/ext:one/devices/${installation}`, { method: 'PUT', project, token, json })
}
