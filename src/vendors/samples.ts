/** A test event: its type, and what it does to the billing state, in words. */
export type Sample = { type: string; does: string }

/**
 * Test events of a vendor, which we write ourselves and sign as the vendor does. They are for connections in test mode. Those of one
 * connection are about one customer with one subscription.
 */
export type Samples = {
  /** By their names. */
  list: Readonly<Record<string, Sample>>
  /** The body of a new event. @param of.seed distinguishes the objects of a connection; `now` in ms; `consumer_key`: of the metadata, for the external id */
  body: (name: string, of: { seed: string; now: number; consumer_key: string }) => string
  /** The headers that the vendor would send with it. */
  sign: (body: string, secret: string, now: number) => Promise<Record<string, string>>
}

/** The external id that test events name as their consumer's. */
export const SAMPLE_CONSUMER = 'test_user_1'
/** What the ids of test events begin with. No vendor makes such ids. */
export const SAMPLE_EVENT = 'evt_platformtest_'
