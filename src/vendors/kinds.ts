/** The kinds of objects whose events become billing state. */
export type StateKind = 'subscription' | 'invoice' | 'payment_method' | 'customer'

/** What thin events name, and what imports read: objects that become billing state, and checkouts, which say which consumer a customer is. */
export type NamedKind = StateKind | 'checkout'

/** What is fetched: also checkouts with their items, which say what was bought. */
export type FetchedKind = NamedKind | 'checkout_items'
