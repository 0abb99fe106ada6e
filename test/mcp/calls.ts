import { expect } from 'vitest'
import { insertEvents, seedEvent } from '../inbox/seeding'
import type { World } from '../routes/world'
import type { Args } from './mcp'

/** `isList`: whether the tool takes a `limit`. */
type Called = { args: (world: World) => Args; shows: (world: World) => unknown; isList?: true }

/** Stores an event that failed. @returns its id */
export async function insertFailed({ project, connection }: World): Promise<string> {
  const error = { last_error: 'a cause', last_error_code: 'payload_invalid' } as const
  const failed = seedEvent({ connection: connection.id, received_at: Date.now(), status: 'failed', ...error })
  await insertEvents(project, [failed])
  return failed.id
}

/** Arguments of every tool, and what its answer has for them. */
export const CALLS: Record<string, Called> = {
  find: { args: ({ event }) => ({ q: event }), shows: ({ event }) => ({ data: [{ type: 'event', id: event }] }) },
  search_events: {
    isList: true,
    args: () => ({ status: ['processed'], ref: 'cus_1', limit: 5 }),
    shows: ({ event }) => ({ data: [{ id: event, raw_payload_b64: null }], has_more: false }),
  },
  get_event: {
    args: ({ event: event_id }) => ({ event_id }),
    shows: ({ event }) => ({ id: event, raw_payload_b64: null }),
  },
  list_event_attempts: {
    isList: true,
    args: ({ event: event_id }) => ({ event_id, limit: 1 }),
    shows: () => ({ data: [{ number: 1, outcome: 'processed' }] }),
  },
  list_failures: {
    args: () => ({}),
    shows: ({ connection }) => ({ data: [{ connection_id: connection.id, error_code: 'payload_invalid', count: 1 }] }),
  },
  get_health: { args: () => ({}), shows: () => ({ counts: { processed: 1 } }) },
  list_connections: {
    isList: true,
    args: () => ({ limit: 1 }),
    // Two of the world's connections may be of one millisecond: either is the newest.
    shows: () => ({ data: [{ vendor: expect.any(String), ingest_url: expect.any(String) }], has_more: true }),
  },
  explain_refused_deliveries: {
    isList: true,
    args: ({ connection }) => ({ connection_id: connection.id }),
    shows: () => ({ data: [{ code: 'signature_mismatch', verdict: 'unknown' }] }),
  },
  get_entitlements: {
    args: () => ({ consumer: 'ext:sample', feature: ['sso'] }),
    shows: () => ({ features: { sso: { allowed: true, reason: 'grant' } } }),
  },
  explain_entitlement: {
    args: () => ({ consumer: 'ext:sample', feature: 'sso' }),
    shows: ({ grant }) => ({
      features: { sso: { allowed: true, sources: [{ type: 'grant', id: grant, counted: true }] } },
    }),
  },
  dry_run_replay: { args: ({ event: event_id }) => ({ event_id }), shows: () => ({ dry_run: true, diff: [] }) },
}
