import type { Child, PropsWithChildren } from 'hono/jsx'

/** `current`: what to do next. `later`: it can wait for the steps before it. */
export type StepState = 'done' | 'current' | 'later'

/** A list of steps, one below the other, with a number or a check mark for each. */
export function Steps({ children }: PropsWithChildren) {
  return <ol class="steps">{children}</ol>
}

const SAID: Record<StepState, string> = { done: 'Done: ', current: 'Next: ', later: '' }

type StepProps = PropsWithChildren<{
  state: StepState
  title: Child
  level?: 'h2' | 'h3'
  /** Attributes of a step that updates itself: {@link waiting}. */
  live?: Record<string, string>
}>

/** A step. Screen readers announce whether it is done. */
export function Step({ state, title, level: Heading = 'h3', live, children }: StepProps) {
  return (
    <li class={`step ${state}`} aria-current={state === 'current' ? 'step' : undefined} {...live}>
      <Heading>
        {SAID[state] && <span class="unseen">{SAID[state]}</span>}
        {title}
      </Heading>
      {children}
    </li>
  )
}

/** The states of steps that are done or not: the first that is not is the current one. */
export function statesOf(done: readonly boolean[]): StepState[] {
  const next = done.indexOf(false)
  return done.map((one, at) => (one ? 'done' : at === next ? 'current' : 'later'))
}

type Waits = {
  id: string
  /** The path that returns this element again; null if nothing more can change. */
  at: string | null
  /** What this shows. The path is asked with it, and answers 204 while nothing has changed. */
  seen: string
  /** How often it asks. */
  every?: string
}

/** Attributes of an element that waits for something and updates itself. Once nothing more can change, it stops asking. */
export function waiting({ id, at, seen, every = '3s' }: Waits): Record<string, string> {
  if (at === null) return { id }
  return {
    id,
    'hx-get': `${at}?seen=${encodeURIComponent(seen)}`,
    'hx-trigger': `every ${every}`,
    'hx-swap': 'outerHTML',
    'data-live': '',
  }
}

type SaidProps = {
  /** What screen readers announce when this replaces an older version. */
  said: string
  /** Whether this replaces an older version. */
  fresh: boolean
}

/** Beside an element that updates itself: says to screen readers what has changed. */
export function Said({ said, fresh }: SaidProps) {
  if (!fresh) return null
  return (
    <p id="said" hx-swap-oob="innerHTML">
      {said}
    </p>
  )
}

/** In an element that updates itself: without a script, a link reloads the page. */
export function Refresh({ at = '?' }: { at?: string }) {
  return (
    <noscript>
      <p>
        <a class="button" href={at}>
          Refresh
        </a>
      </p>
    </noscript>
  )
}

/** A line that says what a page is waiting for. */
export function Pending({ children }: PropsWithChildren) {
  return (
    <p class="waiting">
      <span class="pulse" aria-hidden="true" />
      {children}
    </p>
  )
}
