import { openGenerator } from './load.ts'
import type { Bench } from './workers.ts'

type Key = { project_id: string; event_id: string }
type Message = { id: string; timestamp: Date; attempts: number; body: Key }
/** The part of a Worker that a Queue calls. */
type Consumer = { queue: (queue: string, messages: Message[]) => Promise<{ outcome: string }> }

const BATCH = 100

/**
 * How fast the consumer works: events are taken in over the ingest address, lost by a Queue that has no consumer here,
 * and handed to the consumer in batches of a hundred.
 */
export async function drain(bench: Bench, batches: number) {
  await takeIn(bench, batches * BATCH)
  const { results } = await bench.db
    .prepare(
      "SELECT project_id, id AS event_id FROM events WHERE project_id = ? AND status = 'received' ORDER BY id DESC LIMIT ?",
    )
    .bind(bench.project, batches * BATCH)
    .all<Key>()
  const worker = (await bench.miniflare.getWorker('own')) as unknown as Consumer
  const times: number[] = []
  const lines = await bench.linesOf(
    async () => {
      for (let i = 0; i + BATCH <= results.length; i += BATCH) {
        const messages = results
          .slice(i, i + BATCH)
          .map((body, n) => ({ id: `${i + n}`, timestamp: new Date(), attempts: 1, body: { ...body } }))
        const began = performance.now()
        const { outcome } = await worker.queue('own', messages)
        times.push(performance.now() - began)
        if (outcome !== 'ok') throw new Error(`the consumer ended with ${outcome}`)
      }
    },
    (some) => some.filter(({ event }) => event === 'batch').length >= Math.floor(results.length / BATCH),
  )
  const cost = lines.findLast(({ event }) => event === 'batch')
  const sorted = times.toSorted((a, b) => a - b)
  const total = times.reduce((sum, ms) => sum + ms, 0)
  return {
    batch: BATCH,
    batches: times.length,
    per_second: (1000 * BATCH * times.length) / total,
    p50_ms: sorted[Math.floor(sorted.length / 2)] ?? 0,
    p99_ms: sorted.at(-1) ?? 0,
    trips: cost?.d1_trips ?? 0,
    rows_read: cost?.d1_rows_read ?? 0,
    rows_written: cost?.d1_rows_written ?? 0,
  }
}

/** Makes sure that as many events wait as are to be drained. */
async function takeIn(bench: Bench, wanted: number): Promise<void> {
  const generator = openGenerator()
  try {
    for (let taken = 0; taken < wanted; ) {
      const { count, failed } = await generator.run({
        recipe: bench.event('own', '/ingest/CONNECTION'),
        ms: 1000,
        connections: 8,
      })
      if (failed !== null) throw new Error(failed)
      taken += count
    }
  } finally {
    await generator.close()
  }
}
