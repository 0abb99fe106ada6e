import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { billingWorld } from '../billing/world'
import { stopClock } from '../clock'
import { cases, lossyQueue } from '../harness'
import { rows } from '../inbox/pipeline'
import { as } from './consumers'
import { checkout, ofCustomer } from './events'

/*
 * Claims, upserts, merges and pins in any order end in the same links: over the real calls, deliveries, consumer and
 * database.
 */

const CUSTOMERS = ['cus_a', 'cus_b'] as const
const PEOPLE = ['u1', 'u2', 'u3'] as const
type Person = (typeof PEOPLE)[number]

const claim = fc.record({
  do: fc.constant('claim' as const),
  customer: fc.constantFrom(...CUSTOMERS),
  person: fc.constantFrom(...PEOPLE, null),
  /** Seconds. So few of them that claims of one customer collide. */
  moment: fc.integer({ min: 0, max: 1 }),
  /** What the vendor's id of the event begins with, and so sorts by. */
  letter: fc.constantFrom('a', 'b', 'c'),
  by: fc.constantFrom('customer', 'checkout'),
  twice: fc.boolean(),
  happened: fc.constantFrom('created', 'updated', 'deleted'),
})
/** A pin, and whether it is taken away afterwards. */
const pin = fc.record({ person: fc.constantFrom(...PEOPLE, null), ends: fc.boolean() })
/** No two merges of these end one person, and none lead back, so every order of a history's merges is possible. */
const MERGES = [
  [],
  [['u1', 'u2']],
  [['u3', 'u1']],
  // The second one moves what the first one has moved, or finds its person under the name of another one.
  [
    ['u1', 'u2'],
    ['u2', 'u3'],
  ],
  [
    ['u1', 'u2'],
    ['u3', 'u2'],
  ],
] as const
/** A history: claims, of which some come twice; upserts; merges; and one pin of each customer at most. */
const history = fc.record({
  claims: fc.array(claim, { minLength: 3, maxLength: 8 }),
  pins: fc.record({ cus_a: fc.option(pin), cus_b: fc.option(pin) }),
  merges: fc.constantFrom<readonly (readonly [Person, Person])[]>(...MERGES),
  /** Who is upserted once more. */
  again: fc.subarray([...PEOPLE]),
  orders: fc.tuple(fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.nat())),
})

/** What is done, in some order; what needs a consumer waits for it. */
type Step = { name: string; needs: string[]; run: () => Promise<unknown> }

it('ends in the same links in every order', async () => {
  const numRuns = cases(50)
  stopClock()
  const world = await billingWorld()
  const api = as(world.project, world.token, { bindings: { EVENTS: lossyQueue().EVENTS } })

  /** Plays a history under names of its own. @returns which consumer each customer is, by the consumer's first external id */
  async function play(plan: ReturnTypeOf<typeof history>, order: Stream, batched: boolean) {
    const own = newId('evt', Date.now()).slice(-8)
    const customer = (name: string) => `${name}_${own}`
    const person = (name: string | null) => (name === null ? null : `${name}_${own}`)
    const upsert = async (name: Person) => expect([200, 201]).toContain((await api.put(`${name}_${own}`)).status)
    const steps: Step[] = [
      ...PEOPLE.map((name) => ({ name, needs: [], run: () => upsert(name) })),
      ...plan.again.map((name) => ({ name: `${name} again`, needs: [], run: () => upsert(name) })),
      ...plan.claims.flatMap((one, n) => {
        const make = one.by === 'customer' ? ofCustomer : checkout
        const more = { event: `${idOf(one, n)}_${own}`, happened: one.happened }
        const event = make(customer(one.customer), person(one.person), one.moment, more)
        const run = async () => {
          expect((await world.send(event)).status).toBe(200)
          if (!batched) await world.queue.pump()
        }
        const times = one.twice ? ['once', 'again'] : ['once']
        return times.map((time) => ({ name: `claim ${n} ${time}`, needs: [], run }))
      }),
      ...CUSTOMERS.flatMap((name) => {
        const of = plan.pins[name]
        if (!of) return []
        const set = async () => {
          const answer = await api.pin(customer(name), of.person === null ? null : `ext:${person(of.person)}`)
          expect(answer.status).toBe(200)
        }
        const end = async () => expect((await api.unpin(customer(name))).status).toBe(204)
        const needs = of.person === null ? [] : [of.person]
        return [
          { name: `pin of ${name}`, needs, run: set },
          ...(of.ends ? [{ name: `end of ${name}’s pin`, needs: [`pin of ${name}`], run: end }] : []),
        ]
      }),
      ...plan.merges.map(([from, into]) => ({
        name: `merge of ${from}`,
        needs: [from, into],
        run: async () => {
          expect((await api.merge(`ext:${person(from)}`, `ext:${person(into)}`)).status).toBe(200)
        },
      })),
    ]
    const done: string[] = []
    while (steps.length > 0) {
      const ready = steps.filter(({ needs }) => needs.every((name) => done.includes(name)))
      const step = ready[order.next().value % ready.length] as Step
      steps.splice(steps.indexOf(step), 1)
      await step.run()
      done.push(step.name)
    }
    await world.queue.pump()
    const shown = (text: string | null) => text?.replace(`_${own}`, '') ?? null
    const links = await Promise.all(
      CUSTOMERS.map(async (name) => {
        const { body } = await api.customer(customer(name))
        const of = body.consumer_id ? (await api.get(body.consumer_id)).body : null
        return [name, shown(body.external_id ?? null), body.linked_by ?? null, shown(of?.external_id ?? null)]
      }),
    )
    return links
  }

  await fc.assert(
    fc.asyncProperty(history, async (plan) => {
      const [first, second] = plan.orders
      const one = await play(plan, first, false)
      const other = await play(plan, second, true)
      expect(other).toEqual(one)
      expect(one).toEqual(CUSTOMERS.map((name) => expectedOf(plan, name)))
    }),
    { numRuns },
  )
  expect((await rows('SELECT 1 FROM customer_links WHERE project_id = ?', world.project)).length).toBeGreaterThan(
    numRuns / 3,
  )
}, 120_000)

type ReturnTypeOf<T> = T extends fc.Arbitrary<infer Value> ? Value : never
type Stream = fc.Stream<number>

type Claim = ReturnTypeOf<typeof claim>

/** The vendor's id of an event, as it sorts among others of the same moment. */
const idOf = ({ letter }: Claim, n: number) => `evt_${letter}${n}`
/** Created, updated, deleted. A checkout is none of these, and counts as an update. */
const stepOf = ({ by, happened }: Claim) =>
  by === 'checkout' ? 1 : ['created', 'updated', 'deleted'].indexOf(happened)

/** What somebody would say after reading the whole history. */
function expectedOf({ claims, pins, merges }: ReturnTypeOf<typeof history>, name: (typeof CUSTOMERS)[number]) {
  const first = (person: Person): Person => {
    const merge = merges.find(([from]) => from === person)
    return merge ? first(merge[1]) : person
  }
  const pinned = pins[name]
  if (pinned && !pinned.ends) {
    const to = pinned.person && first(pinned.person)
    return [name, to, 'manual', to]
  }
  const own = claims
    .map((one, n) => ({ ...one, rank: `${one.moment} ${stepOf(one)} ${idOf(one, n)}` }))
    .filter(({ customer, person }) => customer === name && person !== null)
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const said = own.findLast(({ by }) => by === 'customer')
  const hint = own.find(({ by }) => by === 'checkout')
  const counts = said ?? hint
  if (!counts?.person) return [name, null, null, null]
  return [name, counts.person, said ? 'customer' : 'checkout', first(counts.person)]
}
