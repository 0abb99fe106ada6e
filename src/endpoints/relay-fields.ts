import * as z from 'zod'
import type { Relay } from '../followers/schema'
import { named } from '../http/fields'
import { eventType } from '../inbox/search/filters'
import { MAX_RELAY_NAMES } from './limits'

const connection_ids = z
  .array(z.string().max(60))
  .min(1)
  .max(MAX_RELAY_NAMES)
  .describe('Only events of these connections of the project. Null, which is the default, stands for all.')
const event_types = z
  .array(eventType)
  .min(1)
  .max(MAX_RELAY_NAMES)
  .describe(
    'Only these types, as the vendor names them. `customer.*` stands for all types that begin with `customer.`. Null, which is the default, stands for all.',
  )
const replays = z.boolean().describe('Whether an event is also sent when a replay of it has ended.')

/** Which events of vendors an endpoint gets. */
export const RelayField = named(
  'WebhookRelay',
  z.strictObject({
    connection_ids: connection_ids.nullable().default(null),
    event_types: event_types.nullable().default(null),
    replays: replays.default(false),
  }),
  { connection_ids: null, event_types: ['invoice.*'], replays: false },
)

/** The same in answers, in which every field is there. */
export const RelayShown = named(
  'WebhookEndpointRelay',
  z.object({
    connection_ids: z.array(z.string()).nullable(),
    event_types: z.array(z.string()).nullable(),
    replays: z.boolean(),
  }) satisfies z.ZodType<Relay>,
)

/** What a body says of changes and of a relay, of which an endpoint has one. */
type Kinds = { types?: unknown; relay?: unknown; include_object?: boolean | undefined }

/** Refuses a new endpoint that gets neither changes nor events, or both. */
export function checkKind({ types, relay, include_object }: Kinds, { addIssue }: z.core.$RefinementCtx): void {
  if (types === undefined && relay === undefined) {
    addIssue({ code: 'custom', path: ['types'], message: 'must be there, or else relay', params: { code: 'required' } })
  } else if (types !== undefined && relay !== undefined) {
    addIssue({ code: 'custom', path: ['relay'], message: ONE_KIND })
  } else if (relay !== undefined && include_object) {
    addIssue({ code: 'custom', path: ['include_object'], message: NO_OBJECT })
  }
}

export const ONE_KIND = 'cannot be combined with types: create another endpoint'
export const NO_OBJECT = 'is for changes: a relay sends what the vendor sent'
