import {
  APPLE_TOKEN,
  appleBought,
  appleEvent,
  appleSubscribed,
  appleTransaction,
  inSandbox,
  ms,
} from '../payloads-apple'
import { type Line, type Said, sub } from './line'

const iso = (days: number) => new Date(ms(days)).toISOString()
/** It names no customer, which would be linked. */
const UNNAMED = { appAccountToken: undefined }
const ofApple = sub('2000000', APPLE_TOKEN, true)
const bought = (status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'purchases', id: '2000009', customer: APPLE_TOKEN, status, ...more },
]
const coins = [['com.example.coins', null, null, 3]]
const refunded = { revocationDate: ms(2), revocationReason: 1 }
const refund = (more: object) => ({ id: '2000009', status: 'succeeded', created_at: iso(2), ...more })

export const APPLE: Line[] = [
  [
    'subscribed',
    appleSubscribed('SUBSCRIBED.INITIAL_BUY', 1),
    ofApple('active', {
      items: [['com.example.pro', null, '20500000', 1]],
      fields: {
        vendor_status: '1',
        created_at: iso(0),
        started_at: iso(0),
        current_period_start: iso(0),
        current_period_end: iso(31),
        next_billed_at: iso(31),
        cancel_at: null,
        cancel_at_period_end: false,
        ended_at: null,
        scheduled_change: null,
        currency: 'USD',
      },
    }),
  ],
  [
    'on trial',
    appleSubscribed('SUBSCRIBED.INITIAL_BUY', 1, {
      transaction: { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0, expiresDate: ms(14) },
      renewal: { renewalDate: ms(14) },
    }),
    ofApple('trialing', { fields: { trial_start: iso(0), trial_end: iso(14), next_billed_at: iso(14) } }),
  ],
  [
    'at a lower price at first, which is no trial',
    appleSubscribed('SUBSCRIBED.INITIAL_BUY', 1, { transaction: { offerType: 1, offerDiscountType: 'PAY_UP_FRONT' } }),
    ofApple('active', { fields: { trial_end: null } }),
  ],
  [
    'renewed',
    appleSubscribed('DID_RENEW', 1, {
      transaction: { transactionId: '2000002', purchaseDate: ms(31), expiresDate: ms(59) },
      renewal: { renewalDate: ms(59) },
      at: 31,
    }),
    ofApple('active', { fields: { current_period_start: iso(31), current_period_end: iso(59), created_at: iso(0) } }),
  ],
  [
    'to end',
    appleSubscribed('DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED', 1, { renewal: { autoRenewStatus: 0 }, at: 5 }),
    ofApple('active', { fields: { cancel_at: iso(31), cancel_at_period_end: true, next_billed_at: null } }),
  ],
  [
    'to change',
    appleSubscribed('DID_CHANGE_RENEWAL_PREF.DOWNGRADE', 1, { renewal: { autoRenewProductId: 'com.example.basic' } }),
    ofApple('active', {
      items: [['com.example.pro', null, '20500000', 1]],
      fields: {
        scheduled_change: { action: 'renew_as:com.example.basic', effective_at: iso(31), resume_at: null },
        cancel_at: null,
      },
    }),
  ],
  [
    'in the grace period',
    appleSubscribed('DID_FAIL_TO_RENEW.GRACE_PERIOD', 4, { renewal: { gracePeriodExpiresDate: ms(37) }, at: 31 }),
    ofApple('past_due', { fields: { current_period_end: iso(31), cancel_at: null } }),
  ],
  [
    'in the grace period, and to end',
    appleSubscribed('DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED', 4, {
      renewal: { gracePeriodExpiresDate: ms(37), autoRenewStatus: 0 },
      at: 32,
    }),
    ofApple('past_due', { fields: { cancel_at: iso(37) } }),
  ],
  ['not paid', appleSubscribed('DID_FAIL_TO_RENEW', 3, { at: 31 }), ofApple('unpaid')],
  [
    'expired',
    appleSubscribed('EXPIRED.VOLUNTARY', 2, { renewal: { autoRenewStatus: 0 }, at: 31 }),
    ofApple('canceled', { fields: { ended_at: iso(31), cancel_at: null, cancel_at_period_end: false } }),
  ],
  [
    'revoked',
    appleSubscribed('REVOKE', 5, {
      transaction: { revocationDate: ms(9), inAppOwnershipType: 'FAMILY_SHARED' },
      at: 9,
    }),
    ofApple('canceled', { fields: { ended_at: iso(9) } }),
  ],
  [
    'refunded',
    appleSubscribed('REFUND', 1, { transaction: { revocationDate: ms(9), revocationReason: 0 }, at: 9.5 }),
    ofApple('canceled', { fields: { ended_at: iso(9) } }),
  ],
  ['a refund that was reversed', appleSubscribed('REFUND_REVERSED', 1, { at: 12 }), ofApple('active')],
  [
    'the refund of an earlier period, which says nothing about this one',
    appleSubscribed('REFUND', 1, {
      transaction: { ...UNNAMED, revocationDate: ms(40) },
      renewal: { renewalDate: ms(59) },
      at: 40,
    }),
    [],
  ],
  [
    'the refund of a period that ends, after the renewal',
    appleSubscribed('REFUND', 1, {
      transaction: { ...UNNAMED, revocationDate: ms(30.5) },
      renewal: { renewalDate: ms(59) },
      at: 30.5,
    }),
    [],
  ],
  [
    'the refund of what was upgraded',
    appleSubscribed('REFUND', 1, { transaction: { ...UNNAMED, revocationDate: ms(9), isUpgraded: true }, at: 9 }),
    [],
  ],
  ['a status nobody knows', appleSubscribed('DID_RENEW', 6), ofApple('unknown')],
  ['in the sandbox', inSandbox(appleSubscribed('SUBSCRIBED.INITIAL_BUY', 1)), ofApple('active', { livemode: false })],
  [
    'without a token of the app',
    appleSubscribed('SUBSCRIBED.INITIAL_BUY', 1, { transaction: { appAccountToken: undefined } }),
    ofApple('active', { customer: null }),
  ],
  [
    'with the token of the renewal alone',
    appleSubscribed('DID_RENEW', 1, {
      transaction: { appAccountToken: undefined },
      renewal: { appAccountToken: APPLE_TOKEN },
    }),
    ofApple('active'),
  ],
  [
    'bought once',
    appleBought('ONE_TIME_CHARGE'),
    bought('paid', {
      items: coins,
      fields: { currency: 'USD', total: 597, refunded_amount: 0, paid_at: iso(0), refunds: [], items_missing: false },
    }),
  ],
  [
    'in yen',
    appleBought('ONE_TIME_CHARGE', { type: 'Non-Consumable', price: 600_000, currency: 'JPY', quantity: undefined }),
    bought('paid', { items: [['com.example.coins', null, null, 1]], fields: { currency: 'JPY', total: 600 } }),
  ],
  [
    'refunded whole',
    appleBought('REFUND', refunded, 2),
    bought('refunded', {
      items: coins,
      fields: { refunded_amount: 597, refunds: [refund({ amount: 597, reason: 'app_issue', revokes_access: null })] },
    }),
  ],
  [
    'refunded whole, as newer notifications say it',
    appleBought('REFUND', { ...refunded, revocationType: 'REFUND_FULL', revocationPercentage: 100_000 }, 2),
    bought('refunded', { fields: { refunded_amount: 597 } }),
  ],
  [
    'refunded in part',
    appleBought('REFUND', { ...refunded, revocationType: 'REFUND_PRORATED', revocationPercentage: 50_000 }, 2),
    bought('partially_refunded', { fields: { refunded_amount: 299, refunds: [refund({ amount: 299 })] } }),
  ],
  [
    'refunded, without a price',
    appleBought('REFUND', { ...refunded, price: undefined, currency: undefined }, 2),
    bought('refunded', { fields: { total: null, refunded_amount: 0 } }),
  ],
  [
    'a refund that was reversed, of what was bought once',
    appleBought('REFUND_REVERSED', {}, 3),
    bought('paid', {
      fields: { refunded_amount: 0, refunds: [refund({ status: 'canceled', created_at: null, amount: 597 })] },
    }),
  ],
  [
    'no longer shared by the family',
    appleBought('REVOKE', { type: 'Non-Consumable', inAppOwnershipType: 'FAMILY_SHARED', revocationDate: ms(2) }, 2),
    bought('paid', { fields: { refunded_amount: 0, refunds: [refund({ amount: 0, revokes_access: true })] } }),
  ],
  [
    'asked about before a refund',
    appleBought('CONSUMPTION_REQUEST', {}, 1),
    bought('paid', { fields: { refunds: [] } }),
  ],
  ['a refund that was declined', appleBought('REFUND_DECLINED', {}, 1), bought('paid', { fields: { refunds: [] } })],
  [
    'for a time, without renewing',
    appleBought('ONE_TIME_CHARGE', { type: 'Non-Renewing Subscription' }),
    bought('paid'),
  ],
  [
    'the transaction of a subscription without a status',
    appleEvent('REFUND', { signedTransactionInfo: appleTransaction({ ...UNNAMED, revocationDate: ms(1) }) }),
    [],
  ],
  ['a test', appleEvent('TEST', {}), []],
]
