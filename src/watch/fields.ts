import * as z from 'zod'
import { WATCHER_STATES } from '../followers/schema'
import { exampleOf, named } from '../http/fields'
import { listOf } from '../http/page'
import { SAMPLE } from '../http/samples'

const ToldEntitlements = named(
  'ToldEntitlements',
  z.object({
    consumer_id: z.string(),
    revision: z.int().describe('The revision of the last `entitlements.changed` of the consumer, or a later one.'),
    features: z.record(z.string(), z.unknown()).describe('The values of the consumer’s features, by their keys.'),
  }),
  { consumer_id: SAMPLE.consumer, revision: 1795497238100, features: { seats: 10, sso: true } },
)

export const ToldEntitlementsPage = named(
  'ToldEntitlementsPage',
  listOf(ToldEntitlements).extend({
    watching: named('Watching', z.enum(WATCHER_STATES)).describe(
      'Whether the feed reports entitlements. `starting`: not every consumer has been checked yet. Unless it is `on`, the list is empty or incomplete.',
    ),
  }),
  { data: [exampleOf(ToldEntitlements)], has_more: false, next_cursor: null, watching: 'on' },
)
