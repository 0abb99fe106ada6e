import { writeLog } from '../../http/log'
import { Fault } from '../../lib/fault'
import type { EndpointFacts, VendorEndpoints, WantedEndpoint } from '../../vendors/endpoints'
import { MAX_SECRET_LENGTH } from '../connections/limits'
import type { VendorAnswer } from '../vendor-api/fetch-vendor'
import { changeAtVendor, type EndpointAccount, refusedBy, tryChange } from './ask'

/** A new endpoint, with its signing secret. Never log it. */
export type MadeEndpoint = { endpoint: EndpointFacts; secret: string }

/**
 * Makes an endpoint. If the account has no room, endpoints of ours that are to be removed anyway are removed first.
 *
 * @param found.endpoints of the account
 * @throws {Fault} `vendor_endpoint_limit`, and as `changeAtVendor`
 */
export async function createAtVendor(
  account: EndpointAccount,
  wanted: WantedEndpoint,
  { spare, endpoints }: { spare: readonly EndpointFacts[]; endpoints: readonly EndpointFacts[] },
): Promise<MadeEndpoint> {
  const { api } = account
  const create = api.create(wanted)
  let answer = await tryChange(account, create)
  if (spare.length > 0 && isFull(api, answer, endpoints)) {
    await removeAtVendor(account, spare)
    answer = await tryChange(account, create)
  }
  if (isFull(api, answer, endpoints)) throw limitReached(account, endpoints)
  const endpoint = answer.outcome === 'ok' && answer.body ? api.made(answer.body) : null
  if (!endpoint) throw refusedBy(account, answer)
  const secret = endpoint.secret ?? wanted.secret
  if (secret !== null && secret.length <= MAX_SECRET_LENGTH) return { endpoint, secret }
  await removeAtVendor(account, [endpoint])
  throw refusedBy(account, answer)
}

/**
 * Makes an endpoint as it is wanted.
 *
 * @returns null if it is gone
 * @throws {Fault} `vendor_endpoint_limit`, if one more that is enabled is too much, and as `changeAtVendor`
 */
export async function mendAtVendor(
  account: EndpointAccount,
  kept: EndpointFacts,
  { wanted, endpoints }: { wanted: WantedEndpoint; endpoints: readonly EndpointFacts[] },
): Promise<EndpointFacts | null> {
  const { api } = account
  const answer = await tryChange(account, api.change(kept.id, wanted))
  if (answer.outcome === 'gone') return null
  if (!kept.enabled && api.limit?.countsDisabled === false && isFull(api, answer, endpoints))
    throw limitReached(account, endpoints)
  if (answer.outcome !== 'ok') throw refusedBy(account, answer)
  return (answer.body && api.made(answer.body)) ?? { ...kept, ...wanted, enabled: true }
}

/**
 * Whether the vendor has rejected an endpoint because the account has too many. There is no code for it that all vendors document, and some
 * accounts may have more.
 */
function isFull(api: VendorEndpoints, { outcome, status }: VendorAnswer, endpoints: readonly EndpointFacts[]): boolean {
  const isRejected = outcome === 'other' || status === 409
  return isRejected && api.limit !== null && countOf(api, endpoints) >= api.limit.most
}

function countOf({ limit }: VendorEndpoints, endpoints: readonly EndpointFacts[]): number {
  return limit?.countsDisabled !== false ? endpoints.length : endpoints.filter(({ enabled }) => enabled).length
}

function limitReached({ api, host }: EndpointAccount, endpoints: readonly EndpointFacts[]): Fault {
  return new Fault(
    'vendor_endpoint_limit',
    `The account has ${countOf(api, endpoints)} webhook endpoints, and ${host.vendor} does not accept another. Remove one there first.`,
  )
}

/**
 * Removes endpoints of ours. One that the vendor does not remove now is removed by the next set-up: it has our mark, and no live secret or a
 * second place.
 */
export async function removeAtVendor(account: EndpointAccount, endpoints: readonly EndpointFacts[]): Promise<void> {
  for (const { id } of endpoints) {
    try {
      await changeAtVendor(account, account.api.remove(id))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      writeLog('warn', 'endpoint_not_removed', { vendor: account.host.vendor, code: error.fault })
    }
  }
}
