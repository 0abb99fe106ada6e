import { expect, it } from 'vitest'
import type { Walk } from '../../src/followers/schema'
import { planOf } from '../../src/watch/plan'
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

it('a step reads the feed first, and leaves half of itself to those whose time has come', () => {
  const page = [1, 2, 3, 4].map((number) => {
    const id = `csm_${number}`
    return { type: 'grant.created', id: 'grt_1', consumer_id: id, number, at: number }
  })
  const toDo = {
    position: 0,
    walk: { at: '', causes: [] },
    page,
    last: 9,
    due: ['csm_8', 'csm_9'],
    met: [],
    isEnd: true,
  }
  const planned = (most: number, due = toDo.due) => {
    const { consumers, position, isAll } = planOf({ ...toDo, due }, most)
    return [[...consumers.keys()].map((id) => id.slice(4)).join(''), position, isAll]
  }
  expect(planned(6)).toEqual(['12389', 3, false])
  expect(planned(8)).toEqual(['123489', 9, true])
  expect(planned(4, [])).toEqual(['1234', 9, true])
  expect(planned(1)).toEqual(['1', 1, false])
})
