import { expect } from 'vitest'
import { stripeEvent } from '../../harness'
import { expectConsistent, stored, type World } from '../pipeline'

/** One of each fate: processed, ignored, and failed for good. */
export const FATES = [
  [stripeEvent(), 'processed'],
  [stripeEvent('charge.refunded'), 'ignored'],
  ['{"id":"evt_unreadable","object":"list"}', 'failed'],
] as const

export async function deliverFates({ send }: World): Promise<string[]> {
  const ids: string[] = []
  for (const [event] of FATES) ids.push((await send(event)).body.event_ids[0])
  return ids
}

export async function expectFates({ event, project }: World, ids: string[]): Promise<void> {
  for (const [index, [, status]] of FATES.entries()) {
    expect((await event(ids[index] as string)).status).toBe(status)
  }
  expect(await stored(project)).toHaveLength(FATES.length)
  await expectConsistent(project)
}
