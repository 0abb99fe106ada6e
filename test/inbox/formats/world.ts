import { MINUTE } from '../../../src/lib/time'
import { type BillingWorld, billingWorld } from '../../billing/world'
import { deliver } from '../../harness'
import { advance, captureLog, deliverBatch, rows } from '../pipeline'

export type FormatWorld = Awaited<ReturnType<typeof formatWorld>>
type Finding = { code: string; kind: string | null; field: string | null; word: string | null }
/** A row of `formats` as it is stored. */
export type Stored = { api_version: string; kind: string; week: number; events: number; fields: string; words: string }

/** A project with connections of Stripe and of Paddle, whose events are counted. */
export async function formatWorld() {
  const world = await billingWorld()
  return {
    ...world,
    /** Events that are processed together, and whose counts are then written. @returns their ids */
    counted: async (...events: object[]) => {
      const ids = await world.deliverTogether(events)
      await written()
      return ids
    },
    /** A delivery of Stripe's to another connection. */
    sendTo: (id: string, event: object) => deliver(id, event, { bindings: { EVENTS: world.queue.EVENTS } }),
    formats: async (id = world.connection.id) => (await world.api(`/connections/${id}/formats`)).body,
    /** The findings of a code, as `kind.field` or the word. */
    found: async (code: string, id = world.connection.id): Promise<string[]> =>
      (await world.api(`/connections/${id}/formats`)).body.findings
        .filter((one: Finding) => one.code === code)
        .map(({ kind, field, word }: Finding) => word ?? `${kind}.${field}`),
    stored: (id = world.connection.id) =>
      rows<Stored>('SELECT * FROM formats WHERE connection_id = ? ORDER BY api_version, kind, week', id),
    notices: () =>
      rows<{ object_id: string; facts: string; closed_at: number | null }>(
        "SELECT * FROM notices WHERE project_id = ? AND kind = 'format_changed'",
        world.project,
      ),
    /** What health says of formats. */
    reasons: async (): Promise<string[]> =>
      (await world.api('/webhooks/health')).body.reasons.filter((one: string) => one.includes('no longer set')),
  } satisfies BillingWorld & Record<string, unknown>
}

/** Lets a minute pass: the next batch, of whatever it is, takes what was counted along. */
export async function written(bindings = {}): Promise<void> {
  advance(MINUTE)
  const log = captureLog()
  await deliverBatch([null], bindings)
  const lost = log.of('formats_not_counted')
  if (lost.length > 0 && Object.keys(bindings).length === 0) throw new Error(JSON.stringify(lost))
}
