import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { advance, bePatient, stopClock } from '../clock'
import { cases } from '../harness'
import { cron } from '../inbox/pipeline'
import type { Zone } from '../outside/dns'
import { newApi, newName, publish, texts, zone } from './domains'

/*
 * Random walks: the record comes and goes, resolvers fail, time passes, and somebody checks by hand now and then. A model of
 * the states, written from the rules and not from the code, says what must be.
 */

type World = 'found' | 'absent' | 'silent'
type Step = { world?: World; wait?: number; byHand?: boolean }

const ZONES: Record<Exclude<World, 'found'>, Zone> = { absent: texts('other'), silent: { rcode: 'SERVFAIL' } }
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ world: fc.constantFrom<World>('found', 'absent', 'silent') }) },
  {
    weight: 5,
    arbitrary: fc.record({ wait: fc.constantFrom(MINUTE, 20 * MINUTE, HOUR, 5 * HOUR, DAY, 2 * DAY, 8 * DAY) }),
  },
  { weight: 2, arbitrary: fc.record({ byHand: fc.constant(true) }) },
)

/** What the rules say about a check. */
class Model {
  state = 'pending'
  since: number
  absences: number[] = []
  graceUntil = 0
  verifiedAt: number | null = null
  constructor(public now: number) {
    this.since = now
  }
  check(world: World) {
    const { state, now } = this
    if (world === 'found') {
      if (state === 'pending') this.verifiedAt = now
      this.absences = []
      this.state = 'verified'
    } else if (state === 'pending') {
      if (now - this.since >= 7 * DAY) this.state = 'failed'
    } else if (world === 'absent' && state === 'verified') {
      this.absences.push(now)
      if (this.absences.length >= 3 && now - (this.absences[0] as number) >= DAY) {
        this.state = 'grace'
        this.graceUntil = now + 7 * DAY
      }
    } else if (world === 'absent' && state === 'grace' && now >= this.graceUntil) {
      this.state = 'failed'
    }
    if (this.state === 'failed') this.absences = []
  }
  retry() {
    this.state = 'pending'
    this.since = this.now
    this.absences = []
    this.verifiedAt = null
  }
}

let api: Awaited<ReturnType<typeof newApi>>['api']
beforeAll(async () => {
  ;({ api } = await newApi())
})

const timeOf = (text: string | null) => (text === null ? null : Date.parse(text))

/** Takes the steps, and compares the domain with the model after each. @returns the domain in the end */
async function walk(steps: readonly Step[]) {
  bePatient()
  const model = new Model(stopClock())
  let { body: domain } = await api.add(newName())
  let world: World = 'absent'
  const show = () => (world === 'found' ? publish(domain) : zone(domain.hostname, ZONES[world]))
  await show()
  for (const { world: next, wait, byHand } of steps) {
    if (next) {
      world = next
      await show()
    }
    if (wait) {
      advance(wait)
      model.now += wait
    }
    const isDue = domain.next_check_at !== null && Date.parse(domain.next_check_at) <= model.now
    if (isDue) {
      await cron()
      model.check(world)
    } else if (byHand) {
      advance(10_000)
      model.now += 10_000
      const { body } = await api.verify(domain.id)
      if (model.state === 'failed') {
        model.retry()
        domain = body
        await show()
      } else model.check(world)
    }
    domain = (await api.get(domain.id)).body
    const until = model.state === 'grace' ? model.graceUntil : null
    const { state, grace_until, verified_at } = domain
    expect({ state, grace_until: timeOf(grace_until), verified_at: timeOf(verified_at) }).toEqual({
      state: model.state,
      grace_until: until,
      verified_at: model.verifiedAt,
    })
    expect(domain.next_check_at === null).toBe(state === 'failed')
    if (domain.next_check_at) expect(Date.parse(domain.next_check_at)).toBeGreaterThan(model.now)
  }
  await api.remove(domain.id)
  return domain
}

const VERIFIED: Step[] = [{ world: 'found' }, { wait: HOUR }]
const days = (n: number): Step[] => Array.from({ length: n }, () => ({ wait: DAY }))
const checks = (n: number): Step[] => Array.from({ length: n }, () => ({ byHand: true }))
const IN_GRACE: Step[] = [...VERIFIED, { world: 'absent' }, ...days(3)]

it.each<[string, Step[], string]>([
  ['no answer takes nothing from who is verified', [...VERIFIED, { world: 'silent' }, ...days(9)], 'verified'],
  [
    'a few checks without a record in one day do not begin the grace',
    [...VERIFIED, { world: 'absent' }, ...checks(6)],
    'verified',
  ],
  ['three checks over a day do', IN_GRACE, 'grace'],
  [
    'no answer between them begins nothing anew',
    [...VERIFIED, { world: 'absent' }, ...days(2), { world: 'silent' }, ...days(1), { world: 'absent' }, ...days(1)],
    'grace',
  ],
  [
    'a record that is found begins the count anew',
    [...VERIFIED, { world: 'absent' }, ...days(2), { world: 'found' }, ...days(1), { world: 'absent' }, ...days(2)],
    'verified',
  ],
  ['no answer ends no grace', [...IN_GRACE, { world: 'silent' }, ...days(9)], 'grace'],
  ['an absent record ends it after seven days', [...IN_GRACE, ...days(7)], 'failed'],
  ['a record that is found ends it well', [...IN_GRACE, { world: 'found' }, ...days(1)], 'verified'],
])('%s', async (_, steps, state) => {
  expect((await walk(steps)).state).toBe(state)
})

it('the last check of the grace is at its end', async () => {
  const { next_check_at, grace_until } = await walk([...IN_GRACE, ...days(6), { wait: 20 * HOUR }])
  expect(next_check_at).toBe(grace_until)
})

it('the states follow the rules, whatever happens', { timeout: 300_000 }, async () => {
  const way = async (steps: Step[]) => {
    ;({ api } = await newApi()) // All walks together would ask more than one key may in a minute.
    await walk(steps)
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), way), { numRuns: cases(30) })
})
