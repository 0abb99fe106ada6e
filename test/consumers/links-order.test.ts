import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { billingWorld } from '../billing/world'
import { stopClock } from '../clock'
import { lossyQueue, NO_LIMIT } from '../harness'
import { rows } from '../inbox/pipeline'
import { as } from './consumers'
import { checkout, ofCustomer } from './events'

/*
 * Claims, new consumers, merges and pins in any order end in the same links: over the real deliveries, consumer and database.
 */

const CUSTOMERS = ['cus_a', 'cus_b'] as const
const PEOPLE = ['u1', 'u2', 'u3'] as const

const claim = fc.record({
  do: fc.constant('claim' as const),
  customer: fc.constantFrom(...CUSTOMERS),
  person: fc.constantFrom(...PEOPLE, null),
  /** Seconds. So few of them that claims of one customer collide. */
  moment: fc.integer({ min: 0, max: 2 }),
  /** What the vendor's id of the event begins with, and so sorts by. */
  letter: fc.constantFrom('a', 'b', 'c'),
  by: fc.constantFrom('customer', 'checkout'),
  happened: fc.constantFrom('created', 'updated', 'deleted'),
})
/** A history: claims, a pin of one customer at most, and a merge of one person into another at most. */
const history = fc.record({
  claims: fc.array(claim, { minLength: 1, maxLength: 8 }),
  pin: fc.option(fc.record({ customer: fc.constantFrom(...CUSTOMERS), person: fc.constantFrom(...PEOPLE, null) })),
  merge: fc.option(fc.constantFrom(['u1', 'u2'] as const, ['u3', 'u1'] as const)),
  orders: fc.tuple(fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.nat())),
})

/** What is done, in some order; what needs a consumer waits for it. */
type Step = { name: string; needs: string[]; run: () => Promise<unknown> }

it('ends in the same links in every order', async () => {
  stopClock()
  const world = await billingWorld()
  const api = as(world.project, world.token, { bindings: { LIMIT_CREDENTIAL: NO_LIMIT, EVENTS: lossyQueue().EVENTS } })

  /** Plays a history under names of its own. @returns which consumer each customer is, by the consumer's first external id */
  async function play(plan: ReturnTypeOf<typeof history>, order: Stream, batched: boolean) {
    const own = newId('evt', Date.now()).slice(-8)
    const customer = (name: string) => `${name}_${own}`
    const person = (name: string | null) => (name === null ? null : `${name}_${own}`)
    const steps: Step[] = [
      ...PEOPLE.map((name) => ({ name, needs: [], run: () => api.put(person(name) as string) })),
      ...plan.claims.map((one, n) => ({
        name: `claim ${n}`,
        needs: [],
        run: async () => {
          const make = one.by === 'customer' ? ofCustomer : checkout
          const event = `${idOf(one, n)}_${own}`
          await world.send(
            make(customer(one.customer), person(one.person), one.moment, { event, happened: one.happened }),
          )
          if (!batched) await world.queue.pump()
        },
      })),
      ...(plan.pin === null
        ? []
        : [
            {
              name: 'pin',
              needs: plan.pin.person === null ? [] : [plan.pin.person],
              run: async () => {
                const { customer: name, person: to } = plan.pin as NonNullable<typeof plan.pin>
                const answer = await api.pin(customer(name), to === null ? null : `ext:${person(to)}`)
                expect(answer.status).toBe(200)
              },
            },
          ]),
      ...(plan.merge === null
        ? []
        : [
            {
              name: 'merge',
              needs: [...plan.merge],
              run: async () => {
                const [from, into] = plan.merge as readonly [string, string]
                expect((await api.merge(`ext:${person(from)}`, `ext:${person(into)}`)).status).toBe(200)
              },
            },
          ]),
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
    { numRuns: 40 },
  )
  expect((await rows('SELECT 1 FROM customer_links WHERE project_id = ?', world.project)).length).toBeGreaterThan(10)
}, 120_000)

type ReturnTypeOf<T> = T extends fc.Arbitrary<infer Value> ? Value : never
type Stream = fc.Stream<number>

type Claim = ReturnTypeOf<typeof claim>

/** The vendor's id of an event, as it sorts among others of the same moment. */
const idOf = ({ letter }: Claim, n: number) => `evt_${letter}${n}`
/** Created, updated, deleted. A checkout is none of these, and counts as an update. */
const stepOf = ({ by, happened }: Claim) =>
  by === 'checkout' ? 1 : ['created', 'updated', 'deleted'].indexOf(happened)

/** What a person would say after reading the whole history. */
function expectedOf({ claims, pin, merge }: ReturnTypeOf<typeof history>, name: string) {
  const first = (person: string) => (merge?.[0] === person ? merge[1] : person)
  if (pin?.customer === name) {
    const to = pin.person === null ? null : first(pin.person)
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
