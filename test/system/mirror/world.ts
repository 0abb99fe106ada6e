import { must } from '../../../scripts/lib/api.ts'
import type { Inbox } from '../../../scripts/lib/deliver.ts'
import { connect } from '../../../scripts/lib/inbox.ts'
import { newSigningSecret } from '../../../scripts/lib/sign.ts'

/** A project whose history a mirror follows. `writer`: a key that may do everything; `reader`: one that a mirror needs. */
export type World = { url: string; project: string; writer: string; reader: string; inbox: Inbox }

export const FEATURES = ['seats', 'sso']
const READER = ['billing:read', 'consumers:read', 'entitlements:read', 'projects:read']
const WRITER = ['billing:write', 'catalog:read', 'catalog:write', 'consumers:write', 'consumers:erase']
const MORE = ['entitlements:write', 'projects:write', 'connections:read', 'connections:write']

/** Makes a project with a catalog, whose entitlements the feed tells. */
export async function newWorld(url: string, token: string): Promise<World> {
  const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, {
    token,
    json: { name: 'Mirrored' },
  })
  const mint = async (name: string, scopes: string[]) => {
    const { secret } = await must<{ secret: string }>(`${url}/platform/v1/api-keys`, {
      token,
      project,
      json: { name, scopes },
    })
    return secret
  }
  const reader = await mint('Reader', READER)
  const writer = await mint('Writer', [...READER, ...WRITER, ...MORE])
  const inbox = await connect({ url, vendor: 'stripe', token: writer, project }, 'Mirrored', newSigningSecret('stripe'))
  const send = (method: 'PUT' | 'POST' | 'PATCH', path: string, json: object) =>
    must(`${url}/platform/v1/${path}`, { method, token: writer, project, json })
  await send('PUT', 'billing/features/seats', { name: 'Seats', type: 'quantity', combine: 'sum' })
  await send('PUT', 'billing/features/sso', { name: 'SSO', type: 'boolean' })
  await send('POST', 'billing/plans', {
    key: 'pro',
    name: 'Pro',
    features: { seats: { value: 3, per_seat: true }, sso: { value: true, per_seat: false } },
    prices: [{ vendor: 'stripe', ref: 'price_1' }],
  })
  await send('PATCH', `projects/${project}`, { settings: { watch_entitlements: true, test_mode_counts: true } })
  return { url, project, writer, reader, inbox }
}
