/**
 * Cloudflare's public price list for Workers Paid, in US dollars beyond what the plan includes; read on the date below.
 * The one place where a price stands.
 */
export const READ_ON = '2026-11-21'
export const PLAN = {
  name: 'Workers Paid',
  monthly: 5,
  source: 'https://developers.cloudflare.com/workers/platform/pricing/',
}

export type Price = { what: string; per_million: number; included: string; source: string }
const workers = 'https://developers.cloudflare.com/workers/platform/pricing/'
const d1 = 'https://developers.cloudflare.com/d1/platform/pricing/'
const kv = 'https://developers.cloudflare.com/kv/platform/pricing/'
const queues = 'https://developers.cloudflare.com/queues/platform/pricing/'

export const PRICES = {
  requests: { what: 'requests to the Worker', per_million: 0.3, included: '10 million a month', source: workers },
  cpu_ms: { what: 'CPU milliseconds', per_million: 0.02, included: '30 million a month', source: workers },
  rows_read: { what: 'D1 rows read', per_million: 0.001, included: '25 billion a month', source: d1 },
  rows_written: { what: 'D1 rows written', per_million: 1, included: '50 million a month', source: d1 },
  queue_operations: { what: 'Queue operations', per_million: 0.4, included: '1 million a month', source: queues },
  kv_reads: { what: 'KV reads', per_million: 0.5, included: '10 million a month', source: kv },
  kv_writes: { what: 'KV writes', per_million: 5, included: '1 million a month', source: kv },
} as const satisfies Record<string, Price>
export type Counted = keyof typeof PRICES

/** For a gigabyte that is stored for a month. */
export const STORAGE = { what: 'D1 storage, GB-months', each: 0.75, included: '5 GB', source: d1 }
