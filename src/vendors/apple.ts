import {
  appleEnvelope,
  appleLivemode,
  appleNotification,
  applePartsOf,
  appleStateOf,
  appleSubscription,
  appleToken,
} from './apple-notification'
import { appleSnapshots } from './apple-objects'
import { verifierOf } from './apple-verify'
import { claimsOf } from './claim'
import { isObject, numericId, text } from './lib/json'
import { thousandths } from './lib/money'
import { distinctIds, eventOf } from './lib/read'
import type { Vendor } from './vendor'

/** Characters of a secret: no bundle ID is nearly as long. */
const MAX_SECRET = 200

/**
 * App Store Server Notifications, version 2. The body is one text that Apple signs with a key of its own, so there is no secret: a secret of
 * the connection names the app that its notifications must be about.
 * https://developer.apple.com/documentation/appstoreservernotifications/receiving-app-store-server-notifications
 */
export const apple: Vendor = {
  keptHeaders: [],
  checkSecret: (secret) =>
    secret.length <= MAX_SECRET && /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[1-9]\d{0,14})?$/.test(secret)
      ? null
      : 'an App Store secret is the bundle ID of the app for the sandbox (com.example.app), or the bundle ID and the Apple ID of the app for production (com.example.app:1234567890)',
  verify: verifierOf(),

  decode(body) {
    const event = appleNotification(body)
    const parts = applePartsOf(event)
    const { transaction, status } = parts
    const state = appleStateOf(event)
    const subscription = appleSubscription(parts)
    const customer = appleToken(event)
    const id = state === 'subscription' ? subscription : text(transaction.transactionId)
    return [
      eventOf({
        ...appleEnvelope(event),
        livemode: appleLivemode(event),
        api_version: text(event.version),
        object: { type: id && (state === 'subscription' ? state : 'transaction'), id, status: numericId(status) },
        customer,
        subscription,
        amount: thousandths(transaction.price, transaction.currency),
        refs: distinctIds(
          id,
          customer,
          subscription,
          text(transaction.transactionId),
          text(transaction.originalTransactionId),
          text(transaction.webOrderLineItemId),
          text(transaction.productId),
        ),
        state,
        content: event,
      }),
    ]
  },

  snapshots: appleSnapshots,

  object(body) {
    const { data } = appleNotification(body)
    return isObject(data) ? data : null
  },

  claims(event) {
    const token = appleToken(event)
    // The app chooses it: a changed app can choose another one.
    return token === null ? [] : claimsOf(token, [token], 'checkout')
  },
}
