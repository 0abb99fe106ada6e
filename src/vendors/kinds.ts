/** The kinds of objects whose events become billing state. */
export type StateKind = 'subscription' | 'invoice' | 'payment_method' | 'customer'

/** What is fetched: objects that become billing state, and checkouts, which say which consumer a customer is. */
export type FetchedKind = StateKind | 'checkout'
