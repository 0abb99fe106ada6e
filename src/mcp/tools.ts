import * as z from 'zod'
import type { Effect } from '../billing/effect'
import { consumerName } from '../consumers/customer-fields'
import { EntitlementsQuery } from '../entitlements/fields'
import { catalogKey } from '../http/fields'
import { pageFields } from '../http/page'
import { searchFields } from '../inbox/search/filters'
import { FindQuery } from '../search/fields'
import { type ApiAnswer, type Tool, tool } from './tool'

const WEBHOOKS = '/platform/v1/billing/webhooks'
const CONNECTIONS = '/platform/v1/billing/connections'
const ENTITLEMENTS = '/platform/v1/consumers/:consumer/entitlements'

const event_id = z
  .string()
  .regex(/^(evt|ftc)_[0-9a-z]{26}$/, 'must be the id of an event')
  .describe(
    'The id of the event: `evt_…`, or `ftc_…` for an object that was fetched. Not the id that the vendor gave it.',
  )
const connection_id = z
  .string()
  .regex(/^con_[0-9a-z]{26,31}$/, 'must be the id of a connection')
  .describe('The id of the connection: see `list_connections`.')
const consumer = consumerName.describe('The consumer: its id (`csm_…`), or `ext:` and its external id.')
const { at } = EntitlementsQuery.shape

/** The tools, by name. Each is one call of the API that reads. */
export const TOOLS: ReadonlyMap<string, Tool> = new Map(
  Object.entries({
    find: tool({
      call: 'GET /platform/v1/search',
      title: 'Find anything',
      description:
        'Finds what the project has: consumers, customers, subscriptions, invoices, payment methods, purchases, events, replays, imports, plans, features, connections, endpoints, API keys, members, invitations, domains and others. It looks for an id of this service or of a billing vendor, an external id, an email address, or a name. Start here if you have an id and do not know what it belongs to. Types that the API key has no scope for are left out.',
      input: z.strictObject({
        q: FindQuery.shape.q.describe(
          'An id, external id, email address, name or invoice number, or the first letters of one.',
        ),
      }),
    }),
    search_events: tool({
      call: `GET ${WEBHOOKS}/search`,
      title: 'Search events',
      description:
        'Searches the events that billing vendors sent to the project, newest first, without their payloads. `decoded_summary` says what an event is about and what it changed. With `truncated`, the search stopped before the page was full: continue with `next_cursor`.',
      input: z.strictObject({
        ...searchFields,
        consumer: consumer
          .optional()
          .describe('Events of the customers that are linked to this consumer: its id, or `ext:` and its external id.'),
        ...pageFields,
      }),
      always: { view: 'summary' },
      less: 'Or use narrower filters.',
    }),
    get_event: tool({
      call: `GET ${WEBHOOKS}/:event_id`,
      title: 'Get an event',
      description:
        'Shows one event of a billing vendor: its status, its error, what it is about, and what it changed in the billing state. The payload is left out.',
      input: z.strictObject({ event_id }),
      always: { view: 'summary' },
    }),
    list_event_attempts: tool({
      call: `GET ${WEBHOOKS}/:event_id/attempts`,
      title: 'List the attempts at processing an event',
      description:
        'Shows each attempt at processing an event, oldest first: what began it, how it ended, and its error.',
      input: z.strictObject({ event_id, ...pageFields }),
    }),
    list_failures: tool({
      call: `GET ${WEBHOOKS}/failures`,
      title: 'List failed events by cause',
      description:
        'Counts the newest failed events by connection and kind of error. To see the events of a cause, pass its `connection_id` and `error_code` with the status `failed` to `search_events`.',
      input: z.strictObject({}),
    }),
    get_health: tool({
      call: `GET ${WEBHOOKS}/health`,
      title: 'Get the health of the webhook inbox',
      description:
        'Shows whether events of billing vendors arrive and are processed: findings with advice, open and failed events, lag, and each connection.',
      input: z.strictObject({}),
    }),
    list_connections: tool({
      call: `GET ${CONNECTIONS}`,
      title: 'List the connections',
      description: 'Lists the endpoints that billing vendors send events to. Signing secrets are left out.',
      input: z.strictObject(pageFields),
      show: withoutSecrets,
    }),
    explain_refused_deliveries: tool({
      call: `GET ${CONNECTIONS}/:connection_id/diagnoses`,
      title: 'Explain refused deliveries',
      description:
        'Shows why deliveries to a connection were refused in the last seven days, newest first: a verdict, such as a wrong signing secret, and advice. At most one refusal every ten seconds is diagnosed, so the number of rows is not the number of refusals.',
      input: z.strictObject({ connection_id, ...pageFields }),
    }),
    get_entitlements: tool({
      call: `GET ${ENTITLEMENTS}`,
      title: 'Get the entitlements of a consumer',
      description:
        'Shows what a consumer may do: each feature, whether it is allowed, its value, and the reason in a word. To learn where a feature comes from, use `explain_entitlement`.',
      input: z.strictObject({
        consumer,
        feature: z.array(catalogKey).min(1).max(20).optional().describe('Only these features, by their keys.'),
        at,
      }),
      less: 'Request fewer features with `feature`.',
    }),
    explain_entitlement: tool({
      call: `GET ${ENTITLEMENTS}`,
      title: 'Explain an entitlement',
      description:
        'Explains why a consumer may or may not use a feature: every subscription, purchase, grant and default plan that could include it, which of them apply, why the others do not, and the events behind them. A costly call: 30 a minute for an API key.',
      input: z.strictObject({ consumer, feature: catalogKey.describe('The key of the feature.'), at }),
      always: { explain: 'true' },
    }),
    dry_run_replay: tool({
      call: `POST ${WEBHOOKS}/:event_id/replay`,
      title: 'Dry run of a replay',
      description:
        'Shows what a replay of an event would change in the billing state, and changes nothing. `diff` has a line for each field that would change. An empty `diff` means that a replay would change nothing. This tool cannot replay the event.',
      input: z.strictObject({ event_id }),
      always: { dry_run: 'true' },
      show: withDiff,
    }),
  }),
)

/** The connections without what is about their secrets. */
function withoutSecrets({ data, ...page }: ApiAnswer): object {
  const rows = data as ApiAnswer[]
  return { data: rows.map(({ secrets: _, ...row }) => row), ...page }
}

/** What a replay would do, with a line for each field that it would change in place of the values. */
function withDiff(answer: ApiAnswer): object {
  const effects = answer.effects as Effect[]
  return { ...answer, effects: effects.map(({ kind, id, result }) => ({ kind, id, result })), diff: diffOf(effects) }
}

/** What a replay would change, with a line for each field. */
function diffOf(effects: readonly Effect[]): string[] {
  return effects.flatMap(({ kind, id, change }) =>
    Object.entries(change ?? {}).map(([field, { from, to, personal, too_large }]) => {
      if (personal) return `~ ${kind} ${id} ${field}: personal data, not shown`
      if (too_large) return `~ ${kind} ${id} ${field}: too large to show`
      return `~ ${kind} ${id} ${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`
    }),
  )
}
