/** What an event says of one object, as a person reads the vendor's documentation. `item`: price, variant, product and quantity of each. */
export type Said = {
  list: 'subscriptions' | 'invoices' | 'payment-methods' | 'purchases' | 'customers'
  id: string
  status: string
  customer?: string | null
  livemode?: boolean | null
  items?: (string | number | null)[][]
  fields?: Record<string, unknown>
}
export type Line = [what: string, payload: unknown, said: Said[], environment?: string]

/** Says one thing of a subscription. */
export const sub =
  (id: string, customer: string, livemode: boolean | null) =>
  (status: string, more: Partial<Said> = {}) => [
    { list: 'subscriptions' as const, id, customer, livemode, status, ...more },
  ]
