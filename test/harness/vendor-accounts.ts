import type { Account, Item } from '../outside/account'
import {
  newChargebeeKey,
  newGocardlessKey,
  newLemonKey,
  newPaddleKey,
  newPolarKey,
  newRevenuecatKey,
  newStripeKey,
} from '../outside/accounts'
import { setHost } from './outside'

/*
 * Accounts at vendors, as a test sees them: the API behind every fetch answers for their keys. See test/outside/account.ts for what
 * can be set.
 */

export {
  newChargebeeKey,
  newGocardlessKey,
  newLemonKey,
  newPaddleKey,
  newPolarKey,
  newRevenuecatKey,
  newStripeKey,
  paddleObjects,
  stripeObjects,
} from '../outside/accounts'

export type AccountSettings = Omit<Partial<Account>, 'objects'> & { objects?: readonly (Item & { id: string })[] }

/** Opens an account at Stripe. @returns its key */
export async function newStripeAccount(settings: AccountSettings = {}, key = newStripeKey()): Promise<string> {
  return newAccount(key, settings)
}

/** Opens an account at Paddle. @returns its key */
export async function newPaddleAccount(settings: AccountSettings = {}, key = newPaddleKey()): Promise<string> {
  return newAccount(key, settings)
}

/** Opens an account at Polar. @returns its key */
export async function newPolarAccount(settings: AccountSettings = {}, key = newPolarKey()): Promise<string> {
  return newAccount(key, settings)
}

/** Opens an account at Lemon Squeezy, with one store. @returns its key */
export async function newLemonAccount(settings: AccountSettings = {}, key = newLemonKey()): Promise<string> {
  const store = { type: 'stores', id: '7', attributes: { name: 'Acme' } }
  return newAccount(key, { ...settings, objects: [store, ...(settings.objects ?? [])] })
}

/** Opens an account at Chargebee. @returns its key */
export async function newChargebeeAccount(settings: AccountSettings = {}, key = newChargebeeKey()): Promise<string> {
  return newAccount(key, settings)
}

/** Opens a project at RevenueCat. @returns its key */
export async function newRevenuecatAccount(settings: AccountSettings = {}, key = newRevenuecatKey()): Promise<string> {
  return newAccount(key, settings)
}

/** Opens an account at GoCardless. @returns its key */
export async function newGocardlessAccount(settings: AccountSettings = {}, key = newGocardlessKey()): Promise<string> {
  return newAccount(key, settings)
}

async function newAccount(key: string, { objects = [], ...settings }: AccountSettings): Promise<string> {
  await setHost(key, { ...settings, objects: Object.fromEntries(objects.map((one) => [one.id, one])) })
  return key
}

/** Changes some of an account: what it holds (null: gone), and how its API behaves. What it has received stays. */
export async function changeAccount(key: string, changes: Partial<Account>): Promise<void> {
  await fetch(`https://control.plain.dev/${key}`, { method: 'PATCH', body: JSON.stringify(changes) })
}

/** What an account holds now, by id. */
export async function heldBy(key: string): Promise<Account['objects']> {
  const host = (await (await fetch(`https://control.plain.dev/${key}`)).json()) as { settings: Account }
  return host.settings.objects
}
