import { within } from './within'

type Item<T, R> = { value: T; resolve: (result: R) => void; reject: (error: unknown) => void }
type Group<T, R> = { items: Item<T, R>[]; weight: number; openedAt: number; go: () => void }

/** So many times `waitMs` after another, a value is not near it. With 1, a group's answers make the next ones go alone. */
const NEAR = 4

/** Sends several values in one call; answers each, in order. */
export type Send<T, R> = (values: readonly T[]) => Promise<readonly R[]>
/** Keeps work going that others wait for, when the request that does it has ended. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Sends a value, with others where they come together. @throws what the call throws, or where it takes too long */
export type MicroBatcher<T, R> = (value: T, weight: number, send: Send<T, R>, waitUntil: WaitUntil) => Promise<R>

export type Bounds = {
  /** Values in one call. */
  most: number
  /** What the values of one call may weigh together; a heavier one goes alone. */
  mostWeight: number
  /** How long a value waits for others, at most (ms). */
  waitMs: number
  /** How long the answer to a call is waited for (ms). */
  answerMs: number
}

/**
 * Micro-batching: values that requests of this isolate send at about the same time leave in one call. With nobody near,
 * a value leaves at once. It waits only where another came shortly before it ({@link NEAR}); then the call leaves when no
 * other is out and as many have gathered as the last one took, when it is full, or after `waitMs`.
 *
 * The request whose value opened the group makes the call for all of it, with its own bindings. What the call throws,
 * each of them throws. Requests may wait for each other's promises since compatibility date 2024-10-14
 * (`handle_cross_request_promise_resolution`); nothing here waits without a bound for a request that may be gone.
 */
export function microBatcher<T, R>({ most, mostWeight, waitMs, answerMs }: Bounds): MicroBatcher<T, R> {
  const out = new Set<{ leftAt: number }>()
  let last = 1
  let cameAt = 0
  let boarding: Group<T, R> | null = null

  /** Whether no call is out. One that has been for too long has no request left to say that it is back. */
  function allBack(): boolean {
    for (const call of out) if (Date.now() - call.leftAt > answerMs) out.delete(call)
    return out.size === 0
  }

  function leaveIfReady(): void {
    const gathered = boarding?.items.length ?? 0
    if (gathered >= most || (gathered >= last && allBack())) boarding?.go()
  }

  async function leave(items: readonly Item<T, R>[], send: Send<T, R>): Promise<void> {
    const call = { leftAt: Date.now() }
    out.add(call)
    last = items.length
    try {
      const results = await within(answerMs, send(items.map(({ value }) => value)))
      for (const [i, item] of items.entries()) item.resolve(results[i] as R)
    } catch (error) {
      for (const item of items) item.reject(error)
    } finally {
      out.delete(call)
      leaveIfReady()
    }
  }

  async function board(item: Item<T, R>, weight: number, send: Send<T, R>): Promise<void> {
    const { promise: left, resolve: go } = Promise.withResolvers<void>()
    const timer = setTimeout(go, waitMs)
    const group = { items: [item], weight, openedAt: Date.now(), go }
    boarding = group
    await left
    clearTimeout(timer)
    if (boarding === group) boarding = null
    await leave(group.items, send)
  }

  /** The group that a value can still join. One whose request is gone never leaves: nobody joins it for long. */
  function open(weight: number, now: number): Group<T, R> | null {
    if (!boarding || now - boarding.openedAt > waitMs) return null
    return boarding.items.length < most && boarding.weight + weight <= mostWeight ? boarding : null
  }

  return (value, weight, send, waitUntil) => {
    const { promise, ...settle } = Promise.withResolvers<R>()
    const item = { value, ...settle }
    const now = Date.now()
    const alone = now - cameAt >= NEAR * waitMs || (last === 1 && allBack())
    cameAt = now
    const group = open(weight, now)
    if (group) {
      group.items.push(item)
      group.weight += weight
      leaveIfReady()
      return within(answerMs, promise) // its timer is I/O of this request's own: without any, it would be taken for hung
    }
    waitUntil(alone || weight > mostWeight ? leave([item], send) : board(item, weight, send))
    return promise
  }
}

/** A micro-batcher for each binding, such as a database: an isolate may be handed several. */
export function microBatchers<T, R>(bounds: Bounds): (binding: object) => MicroBatcher<T, R> {
  const made = new WeakMap<object, MicroBatcher<T, R>>()
  return (binding) => {
    const batcher = made.get(binding) ?? microBatcher<T, R>(bounds)
    made.set(binding, batcher)
    return batcher
  }
}
