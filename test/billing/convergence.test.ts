import * as fc from 'fast-check'
import { it } from 'vitest'
import { cases } from '../harness'
import { converges } from './courses'
import { course, paddleLife, stripeLife } from './histories'
import { appleLife, braintreeLife, chargebeeLife, lemonsqueezyLife, polarLife, squareLife } from './histories-more'

it.each([
  ['Stripe', stripeLife, cases(25)],
  ['Paddle', paddleLife, cases(10)],
  ['Polar', polarLife, cases(8)],
  ['Lemon Squeezy', lemonsqueezyLife, cases(8)],
  ['Chargebee', chargebeeLife, cases(10)],
  ['Square', squareLife, cases(8)],
  ['Braintree', braintreeLife, cases(6)],
  ['Apple', appleLife, cases(8)],
] as const)(
  'every order of delivery ends in the same rows, which are correct or ambiguous: %s',
  async (name, lives, numRuns) => {
    let ambiguous = 0
    const life = lives.chain((one) =>
      fc.tuple(fc.constant(one), fc.array(course(one.events.length), { minLength: 3, maxLength: 3 })),
    )
    await fc.assert(
      fc.asyncProperty(life, async ([one, courses]) => {
        if (await converges(one, courses)) ambiguous += 1
      }),
      // Shrinking would take minutes. The seed and the path that are printed reproduce a failure.
      { numRuns, endOnFailure: true },
    )
    console.log(`${name}: ${numRuns} histories in 3 orders each, ${ambiguous} of them ended ambiguous`)
  },
  120_000,
)
