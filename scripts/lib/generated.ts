import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRESETS } from '../../src/vendors/presets.ts'
import type { PresetName } from '../../src/vendors/verification.ts'
import { SIGNED_VENDORS, type SignedVendor, USUAL_PRESET } from './sign.ts'

type Make = (n: number) => { name?: string; event: unknown }

const at = '2026-05-04T03:02:01.000Z'
const SECONDS = 1_777_863_721
/** Thirty days, in seconds. */
const MONTH = 30 * 86_400

/** A small event of each vendor, in the format of its published reference. `npm run smoke` sends them. */
const EVENTS: Record<SignedVendor, Make> = {
  adyen: (n) => ({
    event: {
      live: 'false',
      notificationItems: [1, 2].map((part) => ({
        NotificationRequestItem: {
          pspReference: `PSP${n}${part}`,
          merchantAccountCode: 'Smoke',
          merchantReference: 'Zoë-1',
          amount: { value: 1900, currency: 'EUR' },
          eventCode: 'AUTHORISATION',
          success: 'true',
          eventDate: at,
        },
      })),
    },
  }),
  stripe: (n) => ({
    event: {
      id: `evt_smoke${n}`,
      object: 'event',
      created: SECONDS,
      livemode: false,
      type: 'customer.updated',
      data: { object: { id: `cus_${n}`, object: 'customer', name: 'Zoë “Ω” 🦊' } },
    },
  }),
  paddle: (n) => ({
    event: {
      event_id: `evt_smoke${n}`,
      event_type: 'customer.updated',
      occurred_at: at,
      notification_id: `ntf_${n}`,
      data: { id: `ctm_${n}`, status: 'active' },
    },
  }),
  standard: (n) => ({ event: { type: 'invoice.paid', timestamp: at, data: { id: `inv_${n}` } } }),
  polar: (n) => ({ event: { type: 'order.paid', timestamp: at, data: { id: `ord_${n}`, status: 'paid' } } }),
  lemonsqueezy: (n) => ({
    event: {
      meta: { event_name: 'order_created', test_mode: true },
      data: {
        type: 'orders',
        id: String(n),
        attributes: { status: 'paid', total: 1900, currency: 'EUR', updated_at: at },
      },
    },
  }),
  shopify: (n) => ({
    name: `orders-paid.${n}.json`,
    event: { id: n, financial_status: 'paid', currency: 'EUR', total_price: '19.00' },
  }),
  gocardless: (n) => ({
    event: {
      events: [1, 2].map((part) => ({
        id: `EV${n}${part}`,
        created_at: at,
        resource_type: 'payments',
        action: 'confirmed',
        links: { payment: `PM${n}${part}` },
      })),
    },
  }),
  hmac: (n) => ({ event: ofPreset(USUAL_PRESET, n) }),
  recurly: (n) => ({ event: { id: `r${n}`, object_type: 'account', event_type: 'updated', event_time: at } }),
  square: (n) => ({
    event: {
      event_id: `sq-${n}`,
      type: 'payment.updated',
      created_at: at,
      data: { type: 'payment', id: `p${n}`, object: { payment: { id: `p${n}`, status: 'COMPLETED' } } },
    },
  }),
  revenuecat: (n) => ({
    event: {
      api_version: '1.0',
      event: { id: `rc-${n}`, type: 'RENEWAL', event_timestamp_ms: SECONDS * 1000, app_user_id: 'u1' },
    },
  }),
  chargebee: (n) => ({
    event: {
      id: `ev_${n}`,
      event_type: 'customer_changed',
      occurred_at: SECONDS,
      content: { customer: { id: `c${n}` } },
    },
  }),
}

export const GENERATED_VENDORS = SIGNED_VENDORS

/** Writes a folder of events of a vendor, formatted in different ways, because the exact bytes must be preserved. */
export function writeEvents(folder: string, vendor: SignedVendor, count: number): void {
  mkdirSync(folder, { recursive: true })
  for (let n = 1; n <= count; n++) {
    const { name = `event-${n}.json`, event } = EVENTS[vendor](n)
    const indent = [undefined, 2, '\t'][n % 3]
    writeFileSync(join(folder, name), `${JSON.stringify(event, null, indent)}${n % 2 === 0 ? '\r\n' : ''}`)
  }
}

/** For vendors whose events become billing state: an event that shows it, a subscription that begins now. */
const EXAMPLES: Partial<Record<SignedVendor, Make>> = {
  stripe: (n) => ({
    event: {
      id: `evt_example${n}`,
      object: 'event',
      api_version: '2026-03-25.dahlia',
      created: Math.floor(n / 1000),
      livemode: false,
      type: 'customer.subscription.created',
      data: {
        object: {
          id: `sub_example${n}`,
          object: 'subscription',
          customer: `cus_example${n}`,
          status: 'active',
          currency: 'eur',
          items: {
            object: 'list',
            data: [
              {
                id: `si_example${n}`,
                object: 'subscription_item',
                quantity: 1,
                current_period_start: Math.floor(n / 1000),
                current_period_end: Math.floor(n / 1000) + MONTH,
                price: { id: 'price_example', object: 'price', currency: 'eur', unit_amount: 1900 },
              },
            ],
          },
        },
      },
    },
  }),
  paddle: (n) => ({
    event: {
      event_id: `evt_example${n}`,
      event_type: 'subscription.created',
      occurred_at: new Date(n).toISOString(),
      notification_id: `ntf_example${n}`,
      data: {
        id: `sub_example${n}`,
        status: 'active',
        customer_id: `ctm_example${n}`,
        currency_code: 'EUR',
        created_at: new Date(n).toISOString(),
        updated_at: new Date(n).toISOString(),
        current_billing_period: {
          starts_at: new Date(n).toISOString(),
          ends_at: new Date(n + MONTH * 1000).toISOString(),
        },
        items: [{ quantity: 1, price: { id: 'pri_example', unit_price: { amount: '1900', currency_code: 'EUR' } } }],
      },
    },
  }),
}

/** A small event with the values in its body that a preset reads there. */
function ofPreset(preset: PresetName, n: number): Record<string, unknown> {
  const { id, type, time } = PRESETS[preset]
  const event: Record<string, unknown> = { note: `example ${n}` }
  for (const [path, value] of [
    [id, `evt_example${n}`],
    [type, 'order.paid'],
    [time, at],
  ] as const) {
    if (!path || path.startsWith('header:')) continue
    const names = path.split('.')
    const last = names.pop() as string
    let here = event
    for (const name of names) {
      here[name] ??= {}
      here = here[name] as Record<string, unknown>
    }
    here[last] = value
  }
  return event
}

/** Writes one small event of a vendor, with an id that no earlier one has. @param preset of the vendor `hmac` */
export function writeExample(folder: string, vendor: SignedVendor, preset?: PresetName): void {
  const now = Date.now()
  const { name = 'example.json', event } =
    vendor === 'hmac' ? { event: ofPreset(preset ?? USUAL_PRESET, now) } : (EXAMPLES[vendor] ?? EVENTS[vendor])(now)
  writeFileSync(join(folder, name), JSON.stringify(event))
}
