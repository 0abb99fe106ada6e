import { expect, it } from 'vitest'
import type { Walk } from '../../src/followers/schema'
import { joined, moved, unmet } from '../../src/watch/walk'
import { randomFrom } from '../billing/lives'

it('a walk meets everybody for each change that it is for, and nobody for long after that', () => {
  const random = randomFrom(1)
  const int = (n: number) => Math.floor(random() * n)
  for (let round = 0; round < 500; round++) {
    const ids = Array.from({ length: 1 + int(9) }, (_, i) => `csm_${i}`)
    let walk: Walk = { at: '', causes: [] }
    /** Whom it has met for each change, and how often it has moved for it. */
    const met = new Map<number, Set<string>>()
    const moves = new Map<number, number>()
    for (let step = 0; step < 60; step++) {
      const comes = step < 40 && random() < 0.3
      if (comes) met.set(step, new Set())
      // As a step does it: a walk that is under way goes on, for the new change too.
      const goes = walk.causes.length > 0
      const before = joined(walk, comes ? [{ number: step, type: 'plan.updated', at: step, all: false }] : [])
      const left = ids.filter((id) => id > walk.at)
      const next = goes ? left.slice(0, int(4)) : []
      for (const id of next) {
        expect(unmet(before, id).map(({ number }) => number)).toEqual(
          before.causes.map(({ number }) => number).filter((n) => !met.get(n ?? -1)?.has(id)),
        )
        for (const { number } of before.causes) met.get(number ?? -1)?.add(id)
      }
      for (const { number } of before.causes) moves.set(number ?? -1, (moves.get(number ?? -1) ?? 0) + next.length)
      walk = goes ? moved(before, next, next.length === left.length) : before
      for (const [number, own] of met) {
        const isDone = !walk.causes.some((cause) => cause.number === number)
        if (isDone) expect([round, number, own.size]).toEqual([round, number, ids.length])
        else expect(moves.get(number) ?? 0).toBeLessThanOrEqual(2 * ids.length)
      }
    }
  }
})
