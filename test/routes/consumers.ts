import { newId } from '../../src/lib/ids'
import { insertConsumer, insertLink, insertMerged } from '../consumers/rows'
import { rows } from '../inbox/pipeline'
import { asks, byKey, may, type Rows, read, times } from './row'
import type { World } from './world'

const CONSUMERS = '/platform/v1/consumers'
const PAGES = '/console/p/:project/platform/consumers'
const WRITE = may('developer', 'consumers:write')
const onConsumer = (what: string) => ({ action: `consumer.${what}`, object: (world: World) => world.consumer })

export const CONSUMER_ROWS: Rows = {
  'POST /platform/v1/consumers': {
    who: WRITE,
    json: { external_id: 'new', email: 'sample@example.com', name: 'sample', metadata: { team: 'a' } },
    status: 201,
    audit: null,
    faults: {
      external_id_taken: async () => {
        const { project, send } = await byKey()
        await insertConsumer(project, 'taken')
        return send('POST', CONSUMERS, { external_id: 'taken' })
      },
    },
    console: { [`GET ${PAGES}/new`]: {}, [`POST ${PAGES}`]: { fields: { external_id: 'by-form' } } },
  },
  'GET /platform/v1/consumers': {
    who: read('consumers:read'),
    list: {
      add: ({ project }, n) => times(n, () => insertConsumer(project, null)),
      filters: ['state=active', 'state=blocked', 'email=sample@example.com', ''],
    },
    console: { [`GET ${PAGES}`]: {}, [`GET ${PAGES}/csv`]: {} },
  },
  'GET /platform/v1/consumers/:consumer': {
    who: read('consumers:read'),
    faults: {
      consumer_merged: async () => {
        const { project, send } = await byKey()
        const [merged] = await insertMerged(project, await insertConsumer(project, 'survivor'), 1)
        return send('GET', `${CONSUMERS}/${merged}`)
      },
    },
    console: { [`GET ${PAGES}/:consumer`]: {} },
  },
  'PUT /platform/v1/consumers/:consumer': {
    who: WRITE,
    json: { email: 'sample@example.com', name: 'sample', metadata: {} },
    audit: null,
  },
  'PATCH /platform/v1/consumers/:consumer': {
    who: WRITE,
    json: { external_id: 'another', email: null, name: null, metadata: { team: 'b' } },
    audit: null,
    faults: {
      external_id_limit_reached: async () => {
        const { project, send } = await byKey()
        await insertConsumer(project, ...Array.from({ length: 100 }, (_, n) => `id-${n}`))
        return send('PATCH', `${CONSUMERS}/ext:id-0`, { external_id: 'one-too-many' })
      },
      consumer_erased: async () => {
        const { project, send } = await byKey()
        const path = `${CONSUMERS}/${await insertConsumer(project, 'erased')}`
        await send('DELETE', path)
        return send('PATCH', path, { name: 'New' })
      },
      precondition_failed: async () => {
        const { project, send } = await byKey()
        const id = await insertConsumer(project, 'one')
        const headers = { 'If-Match': '"0"' }
        return send('PATCH', `${CONSUMERS}/${id}`, { name: 'New' }, headers)
      },
    },
    console: asks(`${PAGES}/:consumer/edit`, { fields: { name: 'By form', etag: '*' } }),
  },
  'POST /platform/v1/consumers/:consumer/block': {
    who: WRITE,
    json: { reason: 'sample' },
    audit: onConsumer('blocked'),
    console: asks(`${PAGES}/:consumer/block`),
  },
  'POST /platform/v1/consumers/:consumer/unblock': {
    who: WRITE,
    json: { reason: 'sample' },
    audit: {
      ...onConsumer('unblocked'),
      first: ({ consumer }) => rows("UPDATE consumers SET state = 'blocked' WHERE id = ?", consumer),
    },
    console: asks(`${PAGES}/:consumer/unblock`),
  },
  'POST /platform/v1/consumers/:consumer/merge': {
    who: WRITE,
    json: { into: 'ext:survivor' },
    audit: onConsumer('merged'),
    faults: {
      merge_limit_reached: async () => {
        const { project, send } = await byKey()
        const survivor = await insertConsumer(project, 'survivor')
        await insertConsumer(project, 'last')
        await insertMerged(project, survivor, 1000)
        return send('POST', `${CONSUMERS}/ext:last/merge`, { into: survivor })
      },
    },
    console: asks(`${PAGES}/:consumer/merge`, { fields: { into: 'ext:survivor' } }),
  },
  'DELETE /platform/v1/consumers/:consumer': {
    who: { ...may('admin', 'consumers:erase'), confirmed: true },
    audit: onConsumer('erased'),
    console: asks(`${PAGES}/:consumer/erase`, { fields: { typed: 'sample' } }),
  },
  'GET /platform/v1/consumers/:consumer/erasure': { who: read('consumers:read'), at: ({ erased }) => erased },
}

const CUSTOMERS = '/console/p/:project/platform/billing/customers'
const CUSTOMER = `${CUSTOMERS}/:vendor/:customer`

/** Which customers of vendors consumers are. */
export const CUSTOMER_ROWS: Rows = {
  'GET /platform/v1/billing/customers': {
    who: read('billing:read'),
    list: {
      // Sorted by the vendors' ids, which rise here.
      add: ({ project }, n) => times(n, () => insertLink(project, `cus_${newId('evt', Date.now())}`)),
      filters: ['linked=false', 'vendor=stripe', 'linked=true', ''],
      ascending: true,
    },
    console: {
      [`GET ${PAGES}/unlinked`]: {},
      [`GET ${CUSTOMERS}`]: { policy: 'user' },
      [`GET ${CUSTOMERS}/:vendor`]: { policy: 'user' },
    },
  },
  'GET /platform/v1/billing/customers/:vendor/:id': { who: read('billing:read'), console: { [`GET ${CUSTOMER}`]: {} } },
  'POST /platform/v1/billing/customers/:vendor/:id/refresh': {
    who: may('developer', 'billing:write'),
    audit: null,
    console: { [`POST ${CUSTOMER}/refresh`]: {} },
    faults: {
      api_key_missing: async () => {
        const { send } = await byKey()
        return send('POST', '/platform/v1/billing/customers/stripe/cus_1/refresh')
      },
    },
  },
  'PUT /platform/v1/billing/customers/:vendor/:id': {
    who: WRITE,
    json: { consumer: 'ext:sample' },
    audit: { action: 'customer.pinned', object: () => 'cus_1' },
    faults: {
      pin_limit_reached: async () => {
        const { project, send } = await byKey()
        const consumer = await insertConsumer(project, 'one')
        await times(100, (n) => insertLink(project, `cus_${n}`, { pinned: consumer }))
        const path = '/platform/v1/billing/customers/stripe/cus_new'
        return send('PUT', path, { consumer })
      },
    },
    console: {
      ...asks(`${CUSTOMER}/consumer`, { fields: { consumer: 'ext:sample' } }),
      [`POST ${CUSTOMER}/consumer/new`]: { fields: { external_id: 'by-form' } },
      [`POST ${CUSTOMER}/nobody`]: {},
      ...asks(`${PAGES}/unlinked/link`, { fields: { id: 'stripe cus_1', as: 'nobody' } }),
    },
  },
  'DELETE /platform/v1/billing/customers/:vendor/:id/pin': {
    who: WRITE,
    audit: {
      action: 'customer.unpinned',
      object: () => 'cus_1',
      first: ({ project, consumer }) => insertLink(project, 'cus_1', { pinned: consumer }),
    },
    console: asks(`${CUSTOMER}/unpin`),
  },
}
