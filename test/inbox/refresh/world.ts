import { billingWorld } from '../../billing/world'
import { type AccountSettings, call, newStripeAccount, newStripeKey, seenBy } from '../../harness'
import type { Account, Item } from '../../outside/account'
import { rows } from '../pipeline'

export type RefreshWorld = Awaited<ReturnType<typeof refreshWorld>>
/** The customer of the payloads that tests make. */
export const CUSTOMER = {
  id: 'cus_1Tests',
  object: 'customer',
  created: 1_790_000_000,
  livemode: true,
  metadata: {},
  email: 'a@acme.dev',
}

type Held = Item & { id: string }

/** A project whose connection of Stripe has the API key of an account that holds these objects. */
export async function refreshWorld(objects: readonly object[] = [], settings: Omit<AccountSettings, 'objects'> = {}) {
  const world = await billingWorld()
  const apiKey = newStripeKey('live')
  await newStripeAccount({ ...settings, objects: objects as Held[] }, apiKey)
  await setKey(world, world.connection.id, apiKey)
  return {
    ...world,
    apiKey,
    /** Afterwards no refresh has just ended. */
    letTimePass: () => rows('UPDATE vendor_asks SET done_at = 1 WHERE project_id = ?', world.project),
    /** Afterwards the vendor has not asked to wait. */
    endPause: () => rows('UPDATE vendor_keys SET not_before = NULL WHERE project_id = ?', world.project),
    /** Refreshes a customer of Stripe's. */
    refresh: (id = 'cus_1Tests') => world.api(`/customers/stripe/${id}/refresh`, { method: 'POST' }),
    /** The paths that the account was asked for since it was opened, without those that tried the key. */
    asked: async () =>
      (await seenBy(apiKey))
        .map(({ url }) => new URL(url))
        .filter(({ search }) => !search.includes('limit=1&') && search !== '?limit=1'),
  }
}

export async function setKey(
  { token, project }: { token: string; project: string },
  connection: string,
  api_key: string,
) {
  const path = `/platform/v1/billing/connections/${connection}/api-key`
  const { status, text } = await call(path, { method: 'PUT', token, project, json: { api_key } })
  if (status !== 200) throw new Error(`the key was not set: ${status} ${text}`)
}

/** What an account holds, by id. */
export const holding = (objects: readonly object[]): Account['objects'] =>
  Object.fromEntries((objects as Held[]).map((one) => [one.id, one]))
