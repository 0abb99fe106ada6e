import { beforeAll, expect, it } from 'vitest'
import type * as z from 'zod'
import type { RouteEntry } from '../../src/http/openapi'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { stopClock } from '../clock'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

/* A time that a caller sends may have any offset: each field of each route that takes one, at the top of its query or body. */

const IN_UTC = '2026-07-31T14:00:00Z'
const takesTime = (field: z.ZodType) =>
  field.safeParse(IN_UTC).success &&
  !['x', '1', 'ext:1', '2026-07-31', 'a time'].some((text) => field.safeParse(text).success)
const timesOf = (schema: z.ZodType | undefined) => {
  const { shape = {} } = (schema?.def ?? {}) as { shape?: Record<string, z.ZodType> }
  return Object.keys(shape).filter((name) => takesTime(shape[name] as z.ZodType))
}
const cases = ROUTES.flatMap((route) => [
  ...timesOf(route.meta.query).map((field) => [nameOf(route), field, 'query', route] as const),
  ...timesOf(route.meta.body).map((field) => [nameOf(route), field, 'body', route] as const),
])

let world: World
let now: number
beforeAll(async () => {
  now = stopClock()
  world = await newWorld()
})

it('are found', () => {
  expect(cases.length).toBeGreaterThan(20)
})

it.each(cases)('%s takes an offset in %s of its %s', async (_, field, part, route) => {
  const answers = async (time: string) => {
    const sent =
      part === 'query'
        ? { query: String(new URLSearchParams({ [field]: time })) }
        : { json: { ...ROWS[nameOf(route)]?.json, [field]: time } }
    const { status, body } = await callRoute(world, route as RouteEntry, { token: tokenFor(world, route), ...sent })
    return { status, faults: body?.errors }
  }
  for (const time of [now - HOUR, now + DAY]) {
    const elsewhere = iso(time + 2 * HOUR).replace('Z', '+02:00')
    expect(await answers(elsewhere)).toEqual(await answers(iso(time)))
  }
})
