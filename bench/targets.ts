import { HUNDRED, ONE } from './consumer-rows.ts'
import type { Recipe } from './load.ts'
import type { Bench } from './workers.ts'

/** What is measured: `group` is what it is, `against` names the targets that its throughput is compared with. */
export type Target = { name: string; group: 'floor' | 'ours' | 'peer'; recipe: Recipe; against: Goal[] }
/** `least`: the ratio that is the goal; null where the ratio is shown, and none is promised. */
export type Goal = { target: string; least: number | null }

const EVENTS = '/platform/v1/billing/webhooks'
const INGEST = '/ingest/CONNECTION'

/** @param syncEngine where Supabase's stripe-sync-engine listens, if it does */
export function targetsOf(bench: Bench, syncEngine: string | null): Target[] {
  const { get, event, check } = bench
  const floor = (name: string, recipe: Recipe): Target => ({ name, group: 'floor', recipe, against: [] })
  const peer = (name: string, recipe: Recipe): Target => ({ name, group: 'peer', recipe, against: [] })
  const ours = (name: string, recipe: Recipe, ...against: Goal[]): Target => ({ name, group: 'ours', recipe, against })
  const goal = (target: string, least: number | null = null): Goal => ({ target, least })
  return [
    floor('bare Hono route', get('floor', '/bare')),
    floor('+ one limiter call', get('floor', '/limit')),
    floor('+ one D1 read', get('floor', '/read')),
    floor('+ one D1 read, one limiter call', get('floor', '/limit-read')),
    floor('+ one limiter call, a D1 batch of two reads', get('floor', '/limit-batch')),
    floor('+ one limiter call, a D1 batch of a read and a page of 20', get('floor', '/limit-read-page')),
    floor('+ one D1 insert of 4 KB, one queue send', event('floor', '/insert-send')),
    floor('+ one limiter call, a D1 batch of three inserts, one queue send', event('floor', '/limit-batch-send')),
    floor('the statements of a check of one consumer', check([ONE], { 'X-Repeat': 'one' })),
    floor('the statements of a check of 100 consumers', check(HUNDRED, { 'X-Repeat': 'hundred' })),
    ours(
      'authentication alone (then 400)',
      get('own', '/platform/v1/projects?cursor=none'),
      goal('+ one D1 read, one limiter call'),
      goal('better-auth verify'),
    ),
    ours(
      'authenticated GET: the key itself',
      get('own', '/platform/v1/api-keys/self'),
      goal('+ one limiter call, a D1 batch of two reads', 0.85),
      goal('better-auth verify', 5),
      goal('better-auth verify, one instance for all requests'),
      goal('better-auth session of a key'),
    ),
    ours(
      'list of 20 keys',
      get('own', '/platform/v1/api-keys'),
      goal('+ one limiter call, a D1 batch of a read and a page of 20'),
    ),
    ours(
      'ingest of a signed 4 KB event',
      event('own', INGEST),
      goal('+ one D1 insert of 4 KB, one queue send', 0.8),
      goal('+ one limiter call, a D1 batch of three inserts, one queue send'),
      goal('hand-written webhook handler', 1),
      goal('stripe-sync-engine on PostgreSQL'),
    ),
    ours('check of one consumer', check([ONE]), goal('the statements of a check of one consumer')),
    ours('check of 100 consumers', check(HUNDRED), goal('the statements of a check of 100 consumers')),
    ours('list of 20 events, summaries', get('own', `${EVENTS}?view=summary`)),
    ours('search by type', get('own', `${EVENTS}/search?view=summary&event_type=customer.updated`)),
    ours('health', get('own', `${EVENTS}/health`)),
    ours('lag, 24 h', get('own', `${EVENTS}/lag-timeseries`)),
    peer('better-auth verify', get('better-auth', '/verify')),
    peer('better-auth verify, its rate limit off', get('better-auth', '/verify-unlimited')),
    peer('better-auth verify, one instance for all requests', get('better-auth', '/verify-shared')),
    peer('better-auth session of a key', get('better-auth', '/session')),
    peer('hand-written webhook handler', event('handwritten', '/webhook')),
    ...(syncEngine === null
      ? []
      : [peer('stripe-sync-engine on PostgreSQL', { ...event('own', ''), url: syncEngine })]),
  ]
}
