import { expect } from 'vitest'
import type { Candidate } from '../../src/billing/reduce'
import { type Answer, call } from '../harness'
import { deliverBatch, newWorld, type Rows, rows, type World } from '../inbox/pipeline'
import type { Course, Life } from './histories'
import { secretOf, signedAs } from './signed'
import type { Shown } from './world'

type Receiver = { world: World; deliver: (body: unknown) => Promise<Answer> }

async function receiverFor({ vendor }: Life): Promise<Receiver> {
  const world = await newWorld()
  if (vendor === 'stripe') return { world, deliver: (body) => world.send(body) }
  const json = { vendor, name: vendor, livemode: true, signing_secret: secretOf(vendor) }
  const connection = await world.api('/connections', { method: 'POST', json })
  const deliver = async (event: unknown) => {
    const url = connection.body.ingest_url
    const bindings = { EVENTS: world.queue.EVENTS }
    return call(`/ingest/${connection.body.id}`, { method: 'POST', ...(await signedAs(vendor, event, url)), bindings })
  }
  return { world, deliver }
}

/** Runs a history through ingest and the consumer in one order, and returns what is stored of its objects in the end. */
async function run(life: Life, { order, cuts, twice, replays, together }: Course) {
  const { world, deliver } = await receiverFor(life)
  const stored = new Map<number, string>()
  for (const index of [...order, ...twice]) {
    const receipt = await deliver(life.events[index]?.body)
    expect(receipt.status, receipt.text).toBe(200)
    stored.set(index, receipt.body.event_ids[0])
  }
  const message = (index: number) => ({ project_id: world.project, event_id: stored.get(index) })
  const bounds = [0, ...cuts, order.length].sort((a, b) => a - b)
  const batches = bounds.slice(1).map((end, n) => order.slice(bounds[n], end))
  const bindings = { EVENTS: world.queue.EVENTS }
  const half = Math.ceil(batches.length / 2)
  // Two consumers at once, or one after the other.
  const consumer = async (part: number[][]) => {
    for (const batch of part) await deliverBatch(batch.map(message), bindings)
  }
  if (together) await Promise.all([consumer(batches.slice(0, half)), consumer(batches.slice(half))])
  else await consumer(batches)
  for (const index of replays) {
    expect((await world.replay(stored.get(index) as string)).status).toBe(202)
    await deliverBatch([message(index)], bindings)
  }
  const events = await rows<Rows['events']>(
    'SELECT id, vendor_event_id, status, attempts FROM events WHERE project_id = ?',
    world.project,
  )
  expect(events.map(({ status }) => status)).toEqual(life.events.map(() => 'processed'))
  const names = new Map(events.map(({ id, vendor_event_id }) => [id, vendor_event_id]))
  const objects = await rows<Record<string, unknown> & { candidates: string }>(
    'SELECT * FROM billing_objects WHERE project_id = ? ORDER BY kind, vendor_id',
    world.project,
  )
  const shown = (await world.api<Shown>(`/${life.path}/${life.object}`)).body
  return {
    // Whole rows, without what differs between projects: ids, and how often a row was written.
    rows: objects.map(({ project_id: _, version: __, candidates, ...row }) => ({
      ...row,
      candidates: JSON.parse(candidates).map((one: Candidate) => ({ ...one, event_id: names.get(one.event_id) })),
    })),
    shown: { ...shown, source_event_id: names.get(shown.source_event_id) ?? 'none' },
  }
}

/** The last event of a history is the truth. Only an ambiguous row may differ from it. @returns whether it is ambiguous */
export async function converges(life: Life, courses: readonly Course[]): Promise<boolean> {
  const [first, ...others] = await Promise.all(courses.map((one) => run(life, one)))
  for (const other of others) expect(other).toEqual(first)
  const last = life.events.at(-1)
  const truth = await run(
    { ...life, events: last ? [last] : [] },
    { order: [0], cuts: [], twice: [], replays: [], together: false },
  )
  const strip = ({ source_event_id: _, updated_at: __, ambiguous: ___, ...row }: Shown) => ({
    ...row,
    // Of two like events, either link may be shown.
    hosted_url: null,
    hosted_invoice_url: null,
  })
  if (!first?.shown.ambiguous) expect(strip(first?.shown as Shown)).toEqual(strip(truth.shown))
  return first?.shown.ambiguous as boolean
}
