import { type Fields, START } from './payloads-more'

/* Notifications of the App Store, as Apple's documentation describes them. What is signed inside them is here as objects. */

/** So many days after the beginning, in milliseconds. */
export const ms = (days: number) => (START + days * 86_400) * 1000
export const APPLE_TOKEN = '7e3fb20b-4cdb-47cc-936d-99d65f608138'
export const APPLE_APP = { bundleId: 'com.example.app', appAppleId: 1_234_567_890 }

export const appleTransaction = (fields: Fields = {}): Fields => ({
  transactionId: '2000001',
  originalTransactionId: '2000000',
  webOrderLineItemId: '3000001',
  bundleId: APPLE_APP.bundleId,
  productId: 'com.example.pro',
  subscriptionGroupIdentifier: '20500000',
  purchaseDate: ms(0),
  originalPurchaseDate: ms(0),
  expiresDate: ms(31),
  quantity: 1,
  type: 'Auto-Renewable Subscription',
  appAccountToken: APPLE_TOKEN,
  inAppOwnershipType: 'PURCHASED',
  environment: 'Production',
  transactionReason: 'PURCHASE',
  storefront: 'USA',
  price: 9990,
  currency: 'USD',
  ...fields,
})
/** What does not renew. */
export const appleConsumable = (fields: Fields = {}): Fields =>
  appleTransaction({
    transactionId: '2000009',
    originalTransactionId: '2000009',
    productId: 'com.example.coins',
    type: 'Consumable',
    subscriptionGroupIdentifier: undefined,
    expiresDate: undefined,
    webOrderLineItemId: undefined,
    quantity: 3,
    price: 5970,
    ...fields,
  })
export const appleRenewal = (fields: Fields = {}): Fields => ({
  originalTransactionId: '2000000',
  productId: 'com.example.pro',
  autoRenewProductId: 'com.example.pro',
  autoRenewStatus: 1,
  renewalDate: ms(31),
  recentSubscriptionStartDate: ms(0),
  environment: 'Production',
  ...fields,
})

let sent = 0
/** @param type with its subtype after a dot @param data in place of the usual fields of `data` */
export const appleEvent = (type: string, data: Fields, signedDate = ms(0)): Fields => {
  sent += 1
  const [notificationType, subtype] = type.split('.')
  return {
    notificationType,
    ...(subtype && { subtype }),
    notificationUUID: `002e14d5-51f5-4503-b5a8-${String(sent).padStart(12, '0')}`,
    data: { ...APPLE_APP, bundleVersion: '1', environment: 'Production', ...data },
    version: '2.0',
    signedDate,
  }
}
/** An event of a subscription in a status. */
export const appleSubscribed = (
  type: string,
  status: number,
  { transaction = {}, renewal = {}, at = 0 }: { transaction?: Fields; renewal?: Fields; at?: number } = {},
): Fields =>
  appleEvent(
    type,
    { status, signedTransactionInfo: appleTransaction(transaction), signedRenewalInfo: appleRenewal(renewal) },
    ms(at),
  )
/** An event of what was bought once. */
export const appleBought = (type: string, transaction: Fields = {}, at = 0): Fields =>
  appleEvent(type, { signedTransactionInfo: appleConsumable(transaction) }, ms(at))
/** The same event in the sandbox. */
export const inSandbox = (event: Fields): Fields => ({
  ...event,
  data: { ...(event.data as Fields), environment: 'Sandbox', appAppleId: undefined },
})
