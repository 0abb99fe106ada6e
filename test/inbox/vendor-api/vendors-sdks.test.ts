import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { STRIPE_VERSION } from '../../../src/vendors/stripe-api'
import {
  changeAccount,
  newPaddleAccount,
  newPaddleKey,
  newStripeAccount,
  newStripeKey,
  paddleObjects,
  seenBy,
  stripeObjects,
} from '../../harness'

/*
 * The vendors' own SDKs read the APIs of test/outside/. They show that these page and refuse as the real ones do, so that what the
 * service is tested with is not what somebody thinks.
 */

describe('Stripe', () => {
  const client = (apiKey: string) =>
    new Stripe(apiKey, { httpClient: Stripe.createFetchHttpClient(), maxNetworkRetries: 0 })
  const idsOf = async (list: AsyncIterable<{ id?: string }>) => {
    const ids: (string | undefined)[] = []
    for await (const { id } of list) ids.push(id)
    return ids
  }
  const numbers = (from: number, to: number, prefix: string) =>
    Array.from({ length: from - to + 1 }, (_, index) => `${prefix}${String(from - index).padStart(6, '0')}`)

  it('is asked for the version of the SDK', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(1) })
    await client(key).customers.list()
    const [{ headers } = { headers: {} as Record<string, string> }] = await seenBy(key)
    expect(headers['stripe-version']).toBe(STRIPE_VERSION)
  })

  it('pages lists, newest first', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(25) })
    const stripe = client(key)
    expect(await idsOf(stripe.customers.list({ limit: 7 }))).toEqual(numbers(25, 1, 'cus_'))
    expect(await seenBy(key)).toHaveLength(4)
    expect(await idsOf(stripe.subscriptions.list({ limit: 10, status: 'all' }))).toEqual(numbers(25, 1, 'sub_'))
    const open = (id: string) => !['sub_000010', 'sub_000020'].includes(id)
    expect(await idsOf(stripe.subscriptions.list())).toEqual(numbers(25, 1, 'sub_').filter(open))
    expect(await idsOf(stripe.invoices.list({ customer: 'cus_000003' }))).toEqual(['in_000003'])
    expect(await idsOf(stripe.customers.listPaymentMethods('cus_000003'))).toEqual(['pm_000003'])
    expect(await idsOf(stripe.paymentMethods.list({ customer: 'cus_000003' }))).toEqual(['pm_000003'])
    expect(await idsOf(stripe.paymentMethods.list({ limit: 100 }))).toEqual([])
  })

  it('pages a page that the vendor makes smaller', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(5), page_most: 2 })
    expect(await idsOf(client(key).customers.list({ limit: 100 }))).toHaveLength(5)
  })

  it('refuses the cursor of an object that is deleted', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(3) })
    await changeAccount(key, { objects: { cus_000002: { id: 'cus_000002', object: 'customer', deleted: true } } })
    const stripe = client(key)
    await expect(stripe.customers.list({ starting_after: 'cus_000002' })).rejects.toMatchObject({
      type: 'StripeInvalidRequestError',
      statusCode: 400,
      code: 'resource_missing',
      param: 'starting_after',
    })
    expect(await stripe.customers.retrieve('cus_000002')).toMatchObject({ id: 'cus_000002', deleted: true })
  })

  it('cuts the lists inside an object, and has them whole elsewhere', async () => {
    const lines = Array.from({ length: 25 }, (_, n) => ({ id: `il_${n}`, object: 'line_item' }))
    const items = Array.from({ length: 12 }, (_, n) => ({ id: `si_${n}`, object: 'subscription_item' }))
    const key = await newStripeAccount({
      objects: [
        { id: 'in_1', object: 'invoice', created: 1, lines },
        { id: 'sub_1', object: 'subscription', created: 1, status: 'active', customer: 'cus_1', items },
        { id: 'cus_1', object: 'customer', created: 1 },
      ],
    })
    const stripe = client(key)
    const invoice = await stripe.invoices.retrieve('in_1')
    expect([invoice.lines.data.length, invoice.lines.has_more]).toEqual([10, true])
    expect(await idsOf(stripe.invoices.listLineItems('in_1'))).toEqual(lines.map(({ id }) => id))
    const subscription = await stripe.subscriptions.retrieve('sub_1', { expand: ['customer'] })
    expect([subscription.items.data.length, subscription.customer]).toMatchObject([10, { id: 'cus_1' }])
    expect(await idsOf(stripe.subscriptionItems.list({ subscription: 'sub_1' }))).toHaveLength(12)
  })

  it.each<[string, Parameters<typeof newStripeAccount>[0], object]>([
    ['a permission that the key lacks', { refused: ['customers'] }, { type: 'StripePermissionError', statusCode: 403 }],
    ['too many requests', { fail: { status: 429 } }, { type: 'StripeRateLimitError', code: 'rate_limit' }],
    ['a key that has ended', { fail: { status: 401 } }, { type: 'StripeAuthenticationError', code: 'api_key_expired' }],
    ['a broken vendor', { fail: { status: 500 } }, { type: 'StripeAPIError', statusCode: 500 }],
  ])('answers as the SDK expects: %s', async (_, settings, error) => {
    const key = await newStripeAccount({ objects: stripeObjects(1), ...settings })
    await expect(client(key).customers.list()).rejects.toMatchObject(error)
  })

  it('answers as the SDK expects: no such object, no such key', async () => {
    const known = client(await newStripeAccount())
    await expect(known.customers.retrieve('cus_9')).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' })
    const unknown = client(newStripeKey())
    await expect(unknown.customers.list()).rejects.toMatchObject({ type: 'StripeAuthenticationError' })
  })
})

describe('Paddle', () => {
  const client = (key: string) => new Paddle(key, { environment: Environment.production })

  it('pages lists by their next address', async () => {
    const key = await newPaddleAccount({ objects: paddleObjects(25) })
    const list = client(key).subscriptions.list({ perPage: 10 })
    const pages: number[] = []
    do pages.push((await list.next()).length)
    while (list.hasMore)
    expect([pages, list.estimatedTotal]).toEqual([[10, 10, 5], 25])
    const ids: string[] = []
    for await (const { id } of client(key).transactions.list({ orderBy: 'id[ASC]', perPage: 7 })) ids.push(id)
    expect(ids).toEqual(Array.from({ length: 25 }, (_, n) => `txn_${String(n + 1).padStart(6, '0')}`))
  })

  it('pages on after an object that is gone', async () => {
    const key = await newPaddleAccount({ objects: paddleObjects(9) })
    const list = client(key).customers.list({ perPage: 3 })
    await list.next()
    await changeAccount(key, { objects: { ctm_000007: null } })
    expect((await list.next()).map(({ id }) => id)).toEqual(['ctm_000006', 'ctm_000005', 'ctm_000004'])
  })

  it.each<[string, Parameters<typeof newPaddleAccount>[0], object]>([
    ['a permission that the key lacks', { refused: ['customers'] }, { code: 'forbidden' }],
    ['too many requests', { fail: { status: 429, retry_after: '7' } }, { code: 'too_many_requests', retryAfter: 7 }],
    ['a key that has ended', { fail: { status: 401 } }, { code: 'invalid_token' }],
  ])('answers as the SDK expects: %s', async (_, settings, error) => {
    const key = await newPaddleAccount({ objects: paddleObjects(1), ...settings })
    await expect(client(key).customers.get('ctm_000001')).rejects.toMatchObject(error)
  })

  it('answers as the SDK expects: no such object, no such key, a key of the other environment', async () => {
    await expect(client(await newPaddleAccount()).customers.get('ctm_9')).rejects.toMatchObject({ code: 'not_found' })
    for (const key of [newPaddleKey(), await newPaddleAccount({}, newPaddleKey('sdbx'))])
      await expect(client(key).customers.get('ctm_1')).rejects.toMatchObject({ code: 'invalid_token' })
  })
})
