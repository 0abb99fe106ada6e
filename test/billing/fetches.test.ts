import { expect, it } from 'vitest'
import { cases } from '../harness'
import { play, type Rules } from './fetch-play'
import { ALONE, PRODUCT, ROWS, WITHOUT } from './fetch-rules'
import { historyOf, type World } from './fetch-world'
import { randomFrom } from './lives'

/*
 * Fetched objects among events: histories in which changes are tied, deliveries late, repeated or lost, and objects fetched amid
 * them. What ends wrong under the product's own rules, and under rules that lack a part of them?
 */

const HISTORIES = cases(4000)
/** Histories for rules that lack a part: always the same, so that each lack is known to show in one of them. */
const FIXED = 1500

type Counts = {
  histories: number
  /** Histories that end wrong without being flagged; and those of them whose object was fetched after its last change. */
  wrong: number
  wrongThoughSeen: number
  flagged: number
  /** Histories that end wrong, and end right without fetches, because their last event arrived. */
  worse: number
  dependOnOrder: number
  fetches: number
  answers: number
  /** Answers to a refresh that show less than the vendor did. */
  old: number
}

function countsOf(world: World, rules: Rules, histories: number): Counts {
  const sum = { wrong: 0, wrongThoughSeen: 0, flagged: 0, worse: 0, dependOnOrder: 0, fetches: 0, answers: 0, old: 0 }
  for (let seed = 1; seed <= histories; seed++) {
    const random = randomFrom(seed)
    const history = historyOf(world, random)
    const { isWrong, isFlagged, isSeen, dependsOnOrder, fetches, answers, old } = play(history, rules, random)
    sum.wrong += Number(isWrong && !isFlagged)
    sum.wrongThoughSeen += Number(isWrong && !isFlagged && isSeen)
    sum.flagged += Number(isFlagged)
    sum.worse += Number(isWrong && !history.deliveries.at(-1)?.isLost && isRightAlone(history, seed))
    sum.dependOnOrder += Number(dependsOnOrder)
    sum.fetches += fetches
    sum.answers += answers
    sum.old += old
  }
  return { histories, ...sum }
}

function isRightAlone(history: ReturnType<typeof historyOf>, seed: number): boolean {
  return !play({ ...history, sends: 'objects' }, ALONE, randomFrom(seed)).isWrong
}

const percent = (part: number, whole: number) => (whole === 0 ? '-' : ((100 * part) / whole).toFixed(2))

const COLUMNS = {
  'nothing lost': { ties: 0.4, lost: 0 },
  'deliveries <= 0.6 s': { ties: 0.7, lost: 0, fast: true },
  '1 % lost': { ties: 0.4, lost: 0.01 },
  '5 %, 70 % ties': { ties: 0.7, lost: 0.05 },
} satisfies Record<string, World>

it(`of ${HISTORIES} histories, none that is right without fetches is wrong with them, and none depends on the order`, () => {
  const worlds = Object.entries(COLUMNS)
  const table = Object.entries(ROWS).map(([name, rules]) => ({
    name,
    columns: worlds.map(([column, world]) => ({ column, ...countsOf(world, rules, HISTORIES) })),
  }))
  const lines = table.map(({ name, columns }) => {
    const cells = columns.map(
      ({ wrong, wrongThoughSeen }) => `${percent(wrong, HISTORIES)} (${percent(wrongThoughSeen, HISTORIES)})`,
    )
    const answers = columns.reduce((all, one) => all + one.answers, 0)
    const old = columns.reduce((all, one) => all + one.old, 0)
    const fetches = columns.reduce((all, one) => all + one.fetches, 0) / (HISTORIES * columns.length)
    return [name, ...cells, percent(old, answers), fetches.toFixed(2)]
  })
  const heads = ['rule', ...worlds.map(([column]) => column), 'old refreshes', 'fetches']
  console.log(
    `% of histories that end wrong and unflagged (though fetched after the last change); % of refreshes answered with less than was read\n${[
      heads,
      ...lines,
    ]
      .map(([first = '', ...others]) => first.padEnd(25) + others.map((cell) => cell.padStart(21)).join(''))
      .join('\n')}`,
  )
  for (const { name, columns } of table)
    for (const { column, dependOnOrder } of columns) expect(dependOnOrder, `${name}, ${column}`).toBe(0)
  for (const { column, wrong, flagged, worse, old, answers } of table.at(-1)?.columns ?? []) {
    expect(worse, column).toBe(0)
    expect(old / answers, column).toBeLessThan(0.001)
    if (COLUMNS[column as keyof typeof COLUMNS].lost === 0) expect({ wrong, flagged }).toEqual({ wrong: 0, flagged: 0 })
  }
})

it.each<[string, World]>([
  ['2 % of reads stale', { ties: 0.7, lost: 0.05, stale: 0.02 }],
  ['the clock of events 3 s off', { ties: 0.4, lost: 0.01, skew: 3 }],
  ['a clock for each event', { ties: 0.4, lost: 0.01, apart: true }],
  ['thin events', { ties: 0.7, lost: 0, fast: true, sends: 'thin' }],
  ['thin events, 1 % lost', { ties: 0.4, lost: 0.01, sends: 'thin' }],
  ['versions', { ties: 0.7, lost: 0, fast: true, versions: true }],
  ['versions, a fifth of reads stale', { ties: 0.7, lost: 0, stale: 0.2, versions: true }],
  ['versions, 5 % lost', { ties: 0.7, lost: 0.05, versions: true }],
  ['both forms of each event, 1 % lost', { ties: 0.4, lost: 0.01, sends: 'both' }],
])('the same holds with %s', (_, world) => {
  const counts = countsOf(world, PRODUCT, HISTORIES)
  expect(counts).toMatchObject({ worse: 0, dependOnOrder: 0, ...(world.lost === 0 && { wrong: 0 }) })
})

/** Every change leads to a new state, so no fetch looks like one of an earlier state. */
const FORWARD: World = { ties: 0.7, lost: 0.05, returns: 0 }

it('what is fetched after its last change is right, or flagged, where no state comes back', () => {
  expect(countsOf(FORWARD, PRODUCT, HISTORIES)).toMatchObject({ wrongThoughSeen: 0, worse: 0, dependOnOrder: 0 })
})

/** Changes in one second that go back and forth, and are delivered at once: the hardest to put in order. */
const HARD: World = { ties: 0.9, lost: 0, fast: true, returns: 0.5 }

/** Versions show which reads are stale. */
const STALE: World = { ties: 0.9, lost: 0, fast: true, stale: 0.5, versions: true }

/** What the fixed histories of a world count under all rules. */
const WHOLE = new Map<World, Counts>()

it.each<[keyof typeof WITHOUT, keyof Counts, World]>([
  ['1: the time of our own clock, at the start', 'worse', COLUMNS['nothing lost']],
  ['1: the time of our own clock, at the end', 'worse', COLUMNS['nothing lost']],
  ['1: no margin', 'worse', HARD],
  ['1: no time', 'flagged', COLUMNS['nothing lost']],
  ['2', 'old', COLUMNS['nothing lost']],
  ['2: an answer of an older version is over the winner', 'worse', STALE],
  ['2: an event that occurred after its version is not below', 'old', { ...COLUMNS['nothing lost'], versions: true }],
  ['3', 'worse', HARD],
  ['3: where a fetch lost', 'wrongThoughSeen', FORWARD],
  ['3: where a fetch won', 'worse', HARD],
  ['4', 'worse', HARD],
])('without a rule it does not hold: %s', (name, count, world) => {
  const whole = WHOLE.get(world) ?? countsOf(world, PRODUCT, FIXED)
  WHOLE.set(world, whole)
  expect(whole[count], 'all rules').toBe(0)
  expect(countsOf(world, WITHOUT[name], FIXED)[count], name).toBeGreaterThan(0)
})
