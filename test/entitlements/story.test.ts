import { expect, it } from 'vitest'
import { setClock, stopClock } from '../clock'
import { entitlementWorld, sellPlans } from './world'

/*
 * The life of one subscription, from the files of story/, and what its consumer may do after each event and at the moments when
 * something ends by itself. The table follows the rules of docs/concepts/entitlements.md.
 */

const files = import.meta.glob<object>('./story/*.json', { import: 'default', eager: true })
const event = (name: string) => {
  const found = Object.entries(files).find(([path]) => path.endsWith(`-${name}.json`))
  if (!found) throw new Error(`there is no event ${name}`)
  return found[1]
}

type Line = [
  at: string,
  event: string | null,
  expected: [
    reason: string,
    sso: boolean,
    seats: number,
    projects: unknown,
    rows: number | null,
    valid_until: string | null,
  ],
]
const NOT = (reason: string): Line[2] => [reason, false, 0, 0, null, null]

// `seats` has the reason and the end of all but `sso`, which the first plan does not have.
const STORY: Line[] = [
  ['2026-01-01T00:00:01', 'customer', NOT('no_subscription')],
  ['2026-01-01T00:00:02', 'trial', ['plan', false, 3, 3, 100, '2026-01-17T00:00:00.000Z']],
  ['2026-01-16T23:59:59', null, ['plan', false, 3, 3, 100, '2026-01-17T00:00:00.000Z']], // the event is late
  ['2026-01-17T00:00:00', null, NOT('expired')],
  ['2026-01-17T01:00:00', 'started', ['plan', false, 3, 3, 100, '2026-02-17T00:00:00.000Z']],
  ['2026-01-20T00:00:01', 'upgrade', ['plan', true, 3, 'unlimited', 1000, '2026-02-17T00:00:00.000Z']],
  ['2026-02-15T00:00:01', 'past-due', ['plan', true, 3, 'unlimited', 1000, '2026-02-22T00:00:00.000Z']],
  ['2026-02-18T00:00:01', 'still-past-due', ['plan', true, 3, 'unlimited', 1000, '2026-02-22T00:00:00.000Z']],
  ['2026-02-21T23:59:59', null, ['plan', true, 3, 'unlimited', 1000, '2026-02-22T00:00:00.000Z']],
  ['2026-02-22T00:00:00', null, NOT('past_due')], // the grace period is over
  ['2026-02-23T00:00:01', 'paid', ['plan', true, 3, 'unlimited', 1000, '2026-03-17T00:00:00.000Z']],
  ['2026-02-24T00:00:01', 'more-seats', ['plan', true, 5, 'unlimited', 1000, '2026-03-17T00:00:00.000Z']],
  ['2026-03-01T00:00:01', 'cancel-at-period-end', ['plan', true, 5, 'unlimited', 1000, '2026-03-15T00:00:00.000Z']],
  ['2026-03-05T00:00:01', 'refund', ['plan', true, 5, 'unlimited', 1000, '2026-03-15T00:00:00.000Z']],
  ['2026-03-14T23:59:59', null, ['plan', true, 5, 'unlimited', 1000, '2026-03-15T00:00:00.000Z']],
  ['2026-03-15T00:00:00', null, NOT('expired')],
  ['2026-03-15T00:00:01', 'canceled', NOT('expired')],
]

it('tells what a consumer may do in every chapter of a subscription', async () => {
  stopClock(Date.parse('2026-01-01T00:00:00Z'))
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
  expect(Object.keys(files)).toHaveLength(STORY.filter(([, name]) => name !== null).length)
  const told: [at: string, features: unknown][] = []
  for (const [at, name, expected] of STORY) {
    setClock(Date.parse(`${at}Z`))
    if (name !== null) await world.deliver(event(name))
    const { as_of, features } = await world.one('ext:ada')
    const { sso, seats, projects, limits } = features
    const rows = (limits?.value as { rows: number } | null)?.rows ?? null
    expect(as_of).toBe(`${at}.000Z`)
    expect(
      [seats?.reason, sso?.allowed, seats?.value, projects?.value, rows, seats?.valid_until],
      `${at} ${name ?? ''}`,
    ).toEqual(expected)
    // A check says the same.
    const { body } = await world.check(['ext:ada'], Object.keys(features))
    expect(body.data[0]?.features).toEqual(features)
    told.push([as_of, features])
  }
  // Each of these answers can be asked for later.
  for (const [at, features] of told) {
    expect(await world.one('ext:ada', `?at=${at}`), at).toMatchObject({ as_of: at, exact: true, missing: [], features })
  }
})
