/*
 * Rows of consumers, by INSERT … SELECT inside SQLite, as src/ writes them. `?1` is the project, and `?2` how many there are.
 * The scripts of bench/ and test/consumers/scale.test.ts fill databases with them.
 */

/** The number of the consumer that is asked about: active, with a subscription of its own. */
export const ONE = 502
/** A hundred such consumers among the first thousand. */
export const HUNDRED = Array.from({ length: 1000 }, (_, i) => i + 1)
  .filter((v) => v % 10 > 1 && v % 3 > 0 && v % 100 !== 7)
  .slice(0, 100)

/**
 * Each consumer has an external id, a customer that is linked to it (every hundredth has none), and a subscription of that
 * customer. A tenth are blocked, and a tenth were merged. One more customer has a third of the subscriptions.
 */
export const CONSUMERS = [
  `INSERT INTO consumers (project_id, id, email, metadata, state, merged_into, revision, created_at, updated_at)
   SELECT ?1, printf('csm_0000000000%016d', v), 'c' || v || '@example.com', '{}',
     CASE WHEN v % 10 = 0 THEN 'blocked' WHEN v % 10 = 1 THEN 'merged' ELSE 'active' END,
     CASE WHEN v % 10 = 1 THEN 'csm_00000000000000000000000002' END, 1, 0, 0 FROM n`,
  `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
   SELECT ?1, 'u' || v, printf('csm_0000000000%016d', v), 0, 0 FROM n`,
  `INSERT INTO customer_links (project_id, customer, vendor, said, said_rank)
   SELECT ?1, printf('cus_%06d', v), 'stripe', CASE WHEN v % 100 = 7 THEN 'nobody' ELSE 'u' END || v, '' FROM n`,
  `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
   SELECT ?1, 'subscription', 'sub_' || v, 'stripe', CASE WHEN v % 3 = 0 THEN 'cus_000000' ELSE printf('cus_%06d', v) END,
     'active', 1, json_array(json_object('event_id', 'evt_' || v, 'body', json_object('status', 'active', 'livemode', json('true'),
       'current_period_start', '2026-11-01T00:00:00Z', 'current_period_end', '2099-01-01T00:00:00Z', 'updated_at', '2026-11-01T00:00:00Z',
       'items', json_array(json_object('price', 'price_' || (v % 5), 'product', 'prod_1', 'quantity', 2))))) FROM n`,
]

/** Two purchases of each customer: one that was returned in part, and one that was returned in full. */
export const PURCHASES = `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
   SELECT ?1, 'purchase', printf('pi_%d_%06d', d.value, v), 'stripe', printf('cus_%06d', v), iif(d.value, 'refunded', 'partially_refunded'), 1,
     json_array(json_object('event_id', 'evt_' || v, 'body', json_object('status', iif(d.value, 'refunded', 'partially_refunded'),
       'livemode', json('true'), 'currency', 'EUR', 'total', 4900, 'created_at', '2026-11-01T00:00:00Z', 'updated_at', '2026-11-09T00:00:00Z',
       'paid_at', '2026-11-01T00:00:00Z', 'items_missing', json('false'), 'refunded_amount', iif(d.value, 4900, 900),
       'items', json_array(json_object('price', 'once_' || (v % 5), 'product', 'prod_1', 'quantity', 1)),
       'refunds', json_array(json_object('id', 're_' || v, 'amount', iif(d.value, 4900, 900), 'status', 'succeeded', 'event_id', 'evt_' || v)))))
     FROM n CROSS JOIN json_each('[0,1]') d`

/** A grant for each consumer. */
export const GRANTS = `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
   SELECT ?1, printf('csm_0000000000%016d', v), printf('grt_0000000000%016d', v), 'seats', 'allow', '7', 'usr_bench' FROM n`

/** A statement of these, with the numbers 1 to `?2` as `n`. */
export const numbered = (rows: string) =>
  rows.replace(/^(INSERT[^)]*\))/, '$1 WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?2)')
