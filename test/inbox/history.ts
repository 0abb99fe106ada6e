import { expect } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { newKey, packed } from '../../src/inbox/packing'
import { claim } from '../../src/inbox/process/claim'
import { finish } from '../../src/inbox/process/finish'
import type { Verdict } from '../../src/inbox/process/verdict'
import { recordDelivery } from '../../src/inbox/receive/insert'
import { newId } from '../../src/lib/ids'
import { iso } from '../../src/lib/time'
import { fail } from '../../src/vendors/event-errors'
import { type Json, STORE } from '../harness'

import type { Reader } from './seeding'

/* Events of any past, written by the statements that record, claim and finish them. */

type Outcome = 'processed' | 'ignored' | 'failed'
/** An event by when it came in and, unless it is pending, how long it then took. */
export type Story = { received_at: number; lag?: number; status?: Outcome }

const db = openDb<Db>(STORE)
let names = 0

/** Has events recorded, claimed and finished at their times, by the statements that do it. */
export async function happen(project: string, connection: string, stories: readonly Story[]): Promise<void> {
  const outcomes = new Map<number, { id: string; status: Outcome }[]>()
  for (const { received_at, lag, status = 'processed' } of stories) {
    names += 1
    const id = newId('evt', received_at)
    await recordDelivery(db, {
      fence: { id: connection, version: 1 },
      delivery: {
        key: newKey(received_at),
        packed: packed('{}'),
        headers: {},
        received_at,
        events: [{ id, vendor_event_id: `evt_${names}`, event_type: 'a', occurred_at: null, content_digest: null }],
      },
    })
    if (lag === undefined) continue
    const at = received_at + lag
    outcomes.set(at, [...(outcomes.get(at) ?? []), { id, status }])
  }
  for (const [at, list] of outcomes) {
    const lease = newId('lse', at)
    const { events: claimed } = await claim(
      db,
      list.map(({ id }) => ({ project_id: project, event_id: id })),
      { lease, now: at, apart: false },
    )
    expect(claimed).toHaveLength(list.length)
    const statuses = new Map(list.map(({ id, status }) => [id, status]))
    const verdicts = claimed.map((event): Verdict => {
      const status = statuses.get(event.id) ?? 'processed'
      return {
        event,
        status,
        error: status === 'failed' ? fail('internal_error', 'an error') : null,
        due_at: null,
        trigger: 'ingest',
        started_at: at,
        summary: status === 'failed' ? null : ({ object: {}, refs: [], effects: [] } as unknown as Verdict['summary']),
        snapshots: [],
        claims: [],
      }
    })
    expect(await finish(db, { verdicts, projections: [], lease, now: at })).toEqual({
      noted: new Set(),
      woken: { woken_endpoints: [], woken_watchers: [] },
    })
  }
}

/** The series as asked for; times in milliseconds or as text. */
export async function lagSeries(read: Reader, query: Record<string, string | number> = {}): Promise<Json> {
  const parameters = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'number' ? iso(value) : value,
  ])
  const { status, body } = await read(`/lag-timeseries?${new URLSearchParams(parameters as [string, string][])}`)
  expect([status, body.code]).toEqual([200, undefined])
  return body
}
