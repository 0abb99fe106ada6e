import { expect, it, vi } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { begin } from '../../harness'
import { advance, newWorld, rows, stopClock } from '../pipeline'

it('counts refusals again after a flush died with its request, and those before it too', async () => {
  stopClock()
  const world = await newWorld()
  /** A flush delay that no other timer of the Worker has. */
  const bindings = { REFUSAL_FLUSH_MS: '23', EVENTS: world.queue.EVENTS }
  const refused = () => begin(`/ingest/${world.connection.id}`, { method: 'POST', body: '{}', bindings })
  const counted = async () =>
    (await rows<{ refused: string }>('SELECT refused FROM minutes WHERE project_id = ?', world.project)).map((row) =>
      JSON.parse(row.refused),
    )

  // The request is cut off while its flush waits: its timer never fires.
  const { setTimeout } = globalThis
  const cutOff = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((work: () => void, ms: number) => (ms === 23 ? 0 : setTimeout(work, ms))) as never)
  expect((await refused()).response.status).toBe(401)
  cutOff.mockRestore()

  // It may still be on its way …
  advance(SECOND)
  await (await refused()).rest()
  expect(await counted()).toEqual([])
  // … but not half a minute later.
  advance(MINUTE - (Date.now() % MINUTE) + 30 * SECOND)
  await (await refused()).rest()
  const counts = await counted()
  expect(counts.reduce((sum, { signature_missing: n }) => sum + n, 0)).toBe(3)
})
