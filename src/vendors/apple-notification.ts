import { environmentOf, payloadOf } from './apple-jws'
import { integer, isObject, type Json, number, text } from './lib/json'
import { isId, parseObject, required } from './lib/read'
import { isoMillis } from './lib/time'
import { type Envelope, Undecodable } from './vendor'

const RENEWING = 'Auto-Renewable Subscription'
const ONE_TIME = ['Consumable', 'Non-Consumable', 'Non-Renewing Subscription']
/** Notifications that are about one transaction, which may be of an earlier period of its subscription. */
const OF_TRANSACTION = ['REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED', 'REVOKE', 'CONSUMPTION_REQUEST']

/**
 * The notification of a body, with what is signed inside it in place of the signed texts. The signature of the whole covers them.
 *
 * @throws {Undecodable}
 */
export function appleNotification(body: string): Json {
  const payload = payloadOf(required(parseObject(body).signedPayload, 'signedPayload'))
  if (!payload) throw new Undecodable('the signedPayload has no JSON object')
  const envelope = appleEnvelope(payload)
  const { data } = payload
  if (!isObject(data)) return payload
  const inner = ['signedTransactionInfo', 'signedRenewalInfo'].flatMap((field) => {
    if ((data[field] ?? null) === null) return []
    const read = payloadOf(data[field])
    if (!read) throw new Undecodable(`the ${field} has no JSON object`, envelope)
    if (read.bundleId !== undefined && read.bundleId !== data.bundleId)
      throw new Undecodable(`the ${field} is of another app`, envelope)
    return [[field, read] as const]
  })
  return { ...payload, data: { ...data, ...Object.fromEntries(inner) } }
}

/** @throws {Undecodable} */
export function appleEnvelope(event: Json): Envelope {
  const type = required(event.notificationType, 'notificationType')
  const subtype = text(event.subtype)
  return {
    vendor_event_id: required(event.notificationUUID, 'notificationUUID'),
    event_type: subtype === null ? type : `${type}.${subtype}`,
    occurred_at: isoMillis(event.signedDate),
  }
}

/** What a notification has about a transaction and its subscription; empty where it has nothing. */
export function applePartsOf({ data }: Json) {
  const { signedTransactionInfo, signedRenewalInfo } = isObject(data) ? data : {}
  return {
    status: isObject(data) ? integer(data.status) : null,
    transaction: isObject(signedTransactionInfo) ? signedTransactionInfo : {},
    renewal: isObject(signedRenewalInfo) ? signedRenewalInfo : {},
  }
}

/** What a notification changes: a subscription if it says its status, or a purchase. */
export function appleStateOf(event: Json): 'subscription' | 'purchase' | null {
  const { status, transaction } = applePartsOf(event)
  if (status !== null) return isId(transaction.originalTransactionId) && saysState(event) ? 'subscription' : null
  return ONE_TIME.includes(text(transaction.type) ?? '') && isId(transaction.transactionId) ? 'purchase' : null
}

/** The subscription of a transaction; null if it is of none. */
export function appleSubscription({ transaction, status }: ReturnType<typeof applePartsOf>): string | null {
  return status !== null || transaction.type === RENEWING ? text(transaction.originalTransactionId) : null
}

/** What the app calls the user who bought; null if it does not say. */
export function appleToken(event: Json): string | null {
  const { transaction, renewal } = applePartsOf(event)
  return text(transaction.appAccountToken) ?? text(renewal.appAccountToken)
}

export function appleLivemode(event: Json): boolean | null {
  const environment = environmentOf(event)
  return environment === null ? null : environment === 'Production'
}

/** Whether a notification has the subscription's current transaction: that of another period says nothing about the subscription now. */
function saysState(event: Json): boolean {
  if (!OF_TRANSACTION.includes(text(event.notificationType) ?? '')) return true
  const { status, transaction, renewal } = applePartsOf(event)
  const ends = number(transaction.expiresDate) ?? 0
  const isNewest = transaction.isUpgraded !== true && ends >= (number(renewal.renewalDate) ?? 0)
  return status === REVOKED || (isNewest && ends > (number(event.signedDate) ?? 0))
}

/** The status of a subscription that Apple has taken back. */
const REVOKED = 5
