import type { Runtime } from '../../env'
import { invalidField } from '../../http/validate'
import type { AccountName, VendorEndpoints } from '../../vendors/endpoints'
import { otherMode } from '../vendor-api/keys'
import { requireForm } from '../vendor-api/try-key'
import { turnOf } from '../vendor-api/turn'
import { type EndpointAccount, requireRead } from './ask'
import { MAX_ACCOUNTS_NAMED } from './limits'

/** A key that somebody has just entered, and the name of its account, for vendors whose keys do not say it. */
export type EnteredKey = { api_key: string; account?: string | undefined }

/**
 * The account of an entered key, after checking its form and its mode.
 *
 * @param livemode of the connection
 * @throws {Fault} `validation_failed` at `/account`, `api_key_invalid`, `api_key_too_powerful`, `api_key_other_mode`, and as `refusedBy`
 */
export async function openAccount(
  rt: Runtime,
  api: VendorEndpoints,
  { api_key, account: given }: EnteredKey,
  livemode: boolean,
): Promise<EndpointAccount> {
  requireForm(api, api_key)
  if (api.livemodeOf(api_key) === !livemode) throw otherMode(!livemode)
  requireName(api, given)
  const owner = { livemode, name: given ?? null }
  const host = api.host(owner)
  const account = { api, owner, host, key: api_key, turn: turnOf(rt, host, api_key, 'waited') }
  if (api.mode && (await requireRead(account, api.mode, api.mode.livemode)) !== livemode) throw otherMode(!livemode)
  if (!api.account?.list || given !== undefined) return account
  const names = await requireRead(account, api.account.list, api.account.list.names)
  return { ...account, owner: { livemode, name: requireOnly(api, api.account, names) } }
}

/** @throws {Fault} `validation_failed` if the name is malformed, is missing, or is not needed */
function requireName({ account, vendor }: VendorEndpoints, given: string | undefined): void {
  if (!account) {
    if (given !== undefined)
      throw invalidField('/account', 'unknown_field', `must be absent: a key of ${vendor} is enough`)
  } else if (given === undefined) {
    if (!account.list)
      throw invalidField('/account', 'required', `must be the ${account.noun} at ${vendor}. ${account.where}`)
  } else if (!account.isName(given))
    throw invalidField('/account', 'malformed', `is not a ${account.noun} of ${vendor}. ${account.where}`)
}

/** @throws {Fault} `validation_failed` unless there is exactly one */
function requireOnly({ vendor }: VendorEndpoints, { noun, where }: AccountName, names: readonly string[]): string {
  const [only, ...others] = names
  if (only !== undefined && others.length === 0) return only
  const why =
    only === undefined ? 'The key has none.' : `The key has several: ${names.slice(0, MAX_ACCOUNTS_NAMED).join(', ')}.`
  throw invalidField('/account', 'required', `must be the ${noun} at ${vendor}. ${why} ${where}`)
}
