import { SECOND } from '../../lib/time'
import { LISTED_KINDS, type ListedKind } from '../../vendors/calls'
import { MAX_BACKOFF_MS, MAX_CURSORS, MAX_PAGE_TRIES, PACE_MS } from './limits'
import type { RunRow } from './runs'
import type { KindProgress, RunError } from './schema'

/** What becomes of an import after a page, or after a try at one. */
export type Step = Pick<
  RunRow,
  'state' | 'kinds' | 'error' | 'waiting_until' | 'tries' | 'due_at' | 'updated_at' | 'finished_at'
>

/** The kind that is read next; null if nothing is left to read. */
export function nextKind({ kinds }: Pick<RunRow, 'kinds'>): ListedKind | null {
  const isLeft = (kind: ListedKind) => kinds[kind]?.state === 'waiting' || kinds[kind]?.state === 'running'
  return LISTED_KINDS.find(isLeft) ?? null
}

/** The import goes on, with this progress of a kind; or it is done. */
export function goneOn(run: RunRow, kind: ListedKind, progress: KindProgress, now: number): Step {
  const kinds = { ...run.kinds, [kind]: progress }
  const common = { kinds, error: null, waiting_until: null, tries: 0, updated_at: now }
  if (nextKind({ kinds }) === null) return { ...common, state: 'done', due_at: null, finished_at: now }
  return { ...common, state: 'running', due_at: now + PACE_MS, finished_at: null }
}

/** The import has ended. @param error why it was not done; null if it was */
export function ended(run: RunRow, state: 'done' | 'canceled' | 'failed', error: RunError | null, now: number): Step {
  const { kinds, tries } = run
  return { state, kinds, error, waiting_until: null, tries, due_at: null, updated_at: now, finished_at: now }
}

/** The import waits for something that has nothing to do with its page. */
export function held(run: RunRow, error: RunError | null, until: number, now: number): Step {
  const { kinds, tries } = run
  return {
    state: 'waiting',
    kinds,
    error,
    waiting_until: until,
    tries,
    due_at: until,
    updated_at: now,
    finished_at: null,
  }
}

/** The page has failed: it is tried again after a wait, or the import fails. @param wait what the vendor asks for (ms) */
export function tried(run: RunRow, error: RunError, wait: number | null, now: number): Step {
  const tries = run.tries + 1
  if (tries >= MAX_PAGE_TRIES) return ended({ ...run, tries }, 'failed', error, now)
  const until = now + (wait ?? Math.min(MAX_BACKOFF_MS, SECOND * 2 ** Math.min(tries, 20)))
  return { ...held(run, error, until, now), tries }
}

/** The progress of a kind after a page. @param last the id of the page's last object */
export function after(
  before: KindProgress,
  page: { seen: number; recorded: number; left_out: number; last: string | null; more: boolean },
): KindProgress {
  const { seen, recorded, left_out, last, more } = page
  return {
    ...before,
    state: more ? 'running' : 'done',
    seen: before.seen + seen,
    recorded: before.recorded + recorded,
    unchanged: before.unchanged + seen - recorded - left_out,
    left_out: (before.left_out ?? 0) + left_out,
    cursors: more && last !== null ? [last, ...before.cursors].slice(0, MAX_CURSORS) : [],
  }
}
