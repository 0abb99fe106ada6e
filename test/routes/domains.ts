import { newApi, newName, publish, verified } from '../domains/domains'
import { enforceDomain, failDomain, insertDomain } from '../domains/rows'
import { asks, may, type Rows, read, times } from './row'
import type { World } from './world'

const PAGES = '/console/p/:project/platform/settings/domains'
const WRITE = may('developer', 'domains:write')
const onDomain = (what: string) => ({ action: `domain.${what}`, object: (world: World) => world.domain })

export const DOMAINS: Rows = {
  'POST /platform/v1/domains': {
    who: WRITE,
    json: { hostname: 'sample.dev', purpose: 'surface' },
    status: 201,
    audit: { action: 'domain.added', object: () => /^dom_/ },
    faults: {
      domain_exists: async () => {
        const { api } = await newApi()
        const name = newName()
        await api.add(name)
        return api.add(name)
      },
      domain_limit_reached: async () => {
        const { api } = await newApi()
        await times(50, () => api.add(newName()))
        return api.add(newName())
      },
    },
    console: { [`POST ${PAGES}`]: { fields: { hostname: 'by-form.dev', purpose: 'surface' } } },
  },
  'GET /platform/v1/domains': {
    who: read('domains:read'),
    list: {
      add: ({ project }, n) => times(n, () => insertDomain(project)),
      filters: ['purpose=surface', 'purpose=sso', 'state=pending', ''],
    },
    console: { [`GET ${PAGES}`]: {} },
  },
  'GET /platform/v1/domains/:id': { who: read('domains:read'), console: { [`GET ${PAGES}/:domain`]: {} } },
  'POST /platform/v1/domains/:id/verify': {
    who: WRITE,
    audit: { ...onDomain('retried'), first: ({ domain }) => failDomain(domain) },
    faults: {
      hostname_in_use: async () => {
        const [holder, other] = [await newApi(), await newApi()]
        const held = await verified(holder.api, 'surface')
        const { body } = await other.api.add(held.hostname, 'surface')
        await publish(held, body)
        return other.api.verify(body.id)
      },
      domain_released: async () => {
        const { api } = await newApi()
        const { body } = await api.add(newName())
        await api.remove(body.id)
        return api.verify(body.id)
      },
    },
    console: { [`POST ${PAGES}/:domain/verify`]: {} },
  },
  'DELETE /platform/v1/domains/:id': {
    who: WRITE,
    audit: onDomain('deleted'),
    faults: {
      domain_enforced: async () => {
        const { api, project } = await newApi()
        const domain = await verified(api)
        await enforceDomain(project, domain.id)
        return api.remove(domain.id)
      },
    },
    console: asks(`${PAGES}/:domain/delete`),
  },
}
