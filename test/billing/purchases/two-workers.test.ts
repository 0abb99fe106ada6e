import { beforeEach, expect, it } from 'vitest'
import { stopClock } from '../../clock'
import { tamperedD1 } from '../../harness'
import { deliverBatch } from '../../inbox/pipeline'
import { stripeEventOf, stripeInvoice, T0 } from '../payloads'
import { billingWorld } from '../world'
import { stripeInvoicePayment, stripeOneTimeLine, stripeRefund, stripeSession } from './payloads'

/* Two workers at the parts of one payment: the second one reads again, and no part is lost or left behind. */

beforeEach(() => {
  stopClock()
})

const lines = { object: 'list', data: [stripeOneTimeLine()], has_more: false, total_count: 1 }
const refund = () => stripeEventOf('refund.created', stripeRefund('pi_1', { id: 're_1' }), { at: T0 + 60 })
const link = () => stripeEventOf('invoice_payment.paid', stripeInvoicePayment('in_1', 'pi_1'), { at: T0 + 1 })
const other = () => stripeEventOf('refund.created', stripeRefund('pi_1', { id: 're_2' }), { at: T0 + 60 })
const session = () => stripeEventOf('checkout.session.completed', stripeSession({ payment_intent: 'pi_1' }))

it.each([
  ['a refund, while its payment is linked to an invoice', refund, link, 'in_1', 1],
  ['a link, while a refund of the payment comes', link, refund, 'in_1', 1],
  ['a refund, while another one comes', refund, other, 'pi_1', 2],
  ['a sale, while its refund comes', session, refund, 'pi_1', 1],
] as const)('%s', async (_, first, second, id, refunds) => {
  const world = await billingWorld()
  const sale =
    id === 'in_1'
      ? stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_1', status: 'paid', total: 4900, lines }))
      : first === session
        ? null
        : session()
  if (sale) await world.deliver(sale)
  const messages = []
  for (const event of [first(), second()])
    messages.push({ project_id: world.project, event_id: (await world.send(event)).body.event_ids[0] })
  world.queue.lose()
  const [own, others] = messages as [(typeof messages)[0], (typeof messages)[0]]
  let writes = 0
  const DB = tamperedD1(async (trip) => {
    if (!/insert into "billing_objects"/i.test(trip.sql)) return trip.run()
    writes += 1
    if (writes === 1) expect(await deliverBatch([others])).toEqual(['ack'])
    return trip.run()
  })
  expect(await deliverBatch([own], { DB })).toEqual(['ack'])
  const shown = await world.one('purchases', id)
  expect(shown).toMatchObject({ status: 'partially_refunded', refunded_amount: refunds * 1000 })
  expect(shown.refunds).toHaveLength(refunds)
  const parts = (await world.objects()).flatMap(({ vendor_id, kind, candidates }) =>
    kind === 'purchase'
      ? (JSON.parse(candidates) as { part?: string }[]).map(({ part }) => `${vendor_id} ${part}`)
      : [],
  )
  expect(parts.filter((part) => part.includes('refund:')).every((part) => part.startsWith(`${id} `))).toBe(true)
})
