/* Copies the lists, then follows the feed, until it is stopped or, with `once`, has caught up. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, Refused } from './api.ts'
import { beginCopy, copyPage } from './copy.ts'
import type { Database } from './database.ts'
import { followPage, newestPosition } from './follow.ts'
import { type Position, readPosition } from './position.ts'
import { TABLES } from './tables.ts'

export type Run = {
  api: Api
  database: Database
  project: string
  /** Whether to end once it has caught up. */
  once: boolean
  signal: AbortSignal
  /** Prints a line. */
  say: (line: string) => void
  /** Called after each step. */
  went: () => void
}

/** How often (ms) a long copy says how far it is. */
const SAY_EVERY = 2_000
const WIDTH = Math.max(...Object.keys(TABLES).map((name) => name.length))

export async function runMirror(run: Run): Promise<void> {
  const { api, database, project, once, signal, say, went } = run
  // Asked at each start, so that a key without a scope is refused now, and not at the first change that needs it.
  const newest = await newestPosition(api)
  const found = await readPosition(database, project)
  let position =
    found ?? (await beginCopy(database, { project, version: 0, after: newest, pass: 0, copying: null }, newest))
  say(found ? `Continuing after ${position.after}.` : `Copying ${project}. Changes after ${newest} follow.`)
  const copied = progress(say)
  let isUpToDate = false
  for (;;) {
    signal.throwIfAborted()
    const { copying } = position
    if (copying && copying.tables.length > 0) {
      const step = await copyPage(api, database, position, copying)
      copied(step)
      position = step.position
    } else {
      const step = await followOrBegin(run, position)
      position = step.position
      const isNow = !step.more && position.copying === null
      if (isNow && !isUpToDate) say(`Up to date at ${position.after}.`)
      isUpToDate = isNow
      if (isNow && once) return
      await sleep(step.wait, undefined, { signal })
    }
    went()
  }
}

/** Follows the feed. If the position is no longer valid, the lists are read anew, beside the rows that are there. */
async function followOrBegin({ api, database, say }: Run, from: Position) {
  try {
    const { position, page, rows, watching } = await followPage(api, database, from)
    const { data, has_more, poll_after_s } = page
    if (data.length > 0) say(`${position.after}: ${data.length} changes, ${rows} objects read`)
    if (watching === 'off') sayOff(say)
    return { position, more: has_more, wait: poll_after_s * 1000 }
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'cursor_expired') throw error
    say('The changes after this position are no longer kept. Reading the lists again.')
    return { position: await beginCopy(database, from, await newestPosition(api)), more: true, wait: 0 }
  }
}

type Step = Awaited<ReturnType<typeof copyPage>>

/** Says how far the copy of each table is. */
function progress(say: Run['say']) {
  let rows = 0
  let said = Date.now()
  return (step: Step) => {
    rows += step.rows
    if (step.watching !== undefined && step.watching !== 'on') sayOff(say)
    if (!step.ended && Date.now() - said < SAY_EVERY) return
    said = Date.now()
    say(`${step.table.padEnd(WIDTH)} ${rows.toLocaleString('en').padStart(10)}${step.ended ? '' : ' …'}`)
    if (step.ended) rows = 0
  }
}

function sayOff(say: Run['say']): void {
  say('The table entitlements is not filled: the setting watch_entitlements of the project is not on.')
}
