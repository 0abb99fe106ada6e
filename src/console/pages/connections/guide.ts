import type { Child } from 'hono/jsx'

/** How to send a vendor's events here. What it says about the vendor is from the vendor's documentation. */
export type Guide = {
  /** The vendor's own page about it. */
  docs: string
  /** Who makes the secret: the vendor, once it has the ingest URL; the user, for both sides; or it is the account's. */
  secret: 'vendor' | 'you' | 'account'
  /** What the vendor calls the secret that you choose. */
  chosen?: string
  /** The steps at the vendor with the ingest URL, in order. */
  steps: readonly Child[]
  /** Where to find the secret, or where to enter the one that you choose. */
  where: Child
  /** How to make the vendor send a first event. */
  first: Child
  /** The vendor's own command that forwards its test events to a local URL, and prints their signing secret. */
  forward?: (url: string) => string
  /** What the vendor does about refused deliveries, as a sentence; null if its documentation does not say. */
  retries: string | null
}
