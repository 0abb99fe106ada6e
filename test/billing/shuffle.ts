import * as fc from 'fast-check'

const SEED = Math.floor(Math.random() * 2 ** 31)
let shuffles = 0

/** The items in another order. Its seed is printed where a test fails: put it in for SEED to get the same orders again. */
export function shuffled<T>(items: readonly T[]): T[] {
  console.log(`shuffled by the seed ${SEED}`)
  shuffles += 1
  const orders = fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })
  return fc.sample(orders, { seed: SEED + shuffles, numRuns: 1 })[0] as T[]
}
