import { expect } from 'vitest'
import type { Fields } from './payloads'
import type { BillingWorld, List } from './world'

/** Delivers an event of an object, and checks fields that the API then shows of it. */
export async function expectShown(
  world: BillingWorld,
  { list, event, id }: { list: List; event: object; id: unknown },
  expected: Fields,
) {
  const [source] = (await world.deliver(event)) as [string]
  expect(await world.event(source)).toMatchObject({ status: 'processed', last_error: null })
  expect(await world.one(list, id as string)).toMatchObject({ ...expected, ambiguous: false, incomplete: false })
}
