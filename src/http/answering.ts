import type { Context } from 'hono'
import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { type Holding, heldBytes } from '../lib/held-bytes'
import { projectOf } from './auth'
import type { HttpEnv } from './context'
import {
  ANSWER_CHUNK,
  ANSWER_DEADLINE,
  ANSWER_WAIT_MS,
  MAKING_DEADLINE,
  MAX_ANSWERING_BYTES,
  MAX_PROJECT_ANSWERING_BYTES,
  MAX_SMALL_BYTES,
  SLOW_ANSWER_MS,
} from './limits'
import { writeLog } from './log'

/*
 * Room for payloads that are being read and answered in this isolate. A request that reads payloads asks for room first,
 * and waits a short time for it. The room counts bytes as the vendors sent them; what they become (the answer of D1, base64,
 * JSON) takes several times as much. The limits allow for this.
 */

/**
 * An answer with payloads, from its read until it is sent. `since`: when this part of it began (ms). `cut` stops
 * sending and frees the bytes; null while the answer is being made.
 */
type Answer = Holding & { since: number; cut: (() => void) | null }
type Waiter = { bytes: number; until: number; enter: (answer: Answer) => void }

const answering = heldBytes<Answer>()
/** By project: the next in turn first. */
const waiting = new Map<string, Waiter[]>()

/**
 * Does work that holds payloads of the project. It continues when the caller hangs up: otherwise it would end without
 * leaving its room.
 *
 * @param bytes the most that it reads
 * @throws {Fault} `overloaded` if there is no room for so long; what the work throws
 */
export function inRoom<T>(
  rt: Pick<Runtime, 'waitUntil'>,
  project: string,
  bytes: number,
  work: () => Promise<T>,
): Promise<T> {
  return toItsEnd(rt, async () => {
    const answer = await enter(project, bytes)
    try {
      return await work()
    } finally {
      release(answer)
    }
  })
}

/**
 * As {@link inRoom}, for an answer that contains payloads: its room becomes free when it has been sent. If the
 * answer turns out to be small, like the answers of other calls, its room becomes free at once.
 */
export function sendInRoom<R extends Response>(c: Context<HttpEnv>, bytes: number, make: () => Promise<R>): Promise<R> {
  return sendMade(c, bytes, async (answer) => {
    const made = await make()
    const isEmpty = made.body === null // a 304 may not have a body
    const body = new Uint8Array(await made.arrayBuffer())
    const small = body.byteLength <= MAX_SMALL_BYTES || c.req.method === 'HEAD'
    if (small) release(answer)
    return new Response(isEmpty ? null : small ? body : sending(chunksOf(body), answer), made) as R
  })
}

/**
 * As {@link sendInRoom}, for a large answer that is never in memory as a whole: each part of its text is made when its turn to be
 * sent comes. If a part cannot be made, the answer is cut off.
 *
 * @param make makes the answer, whose own body does not count, and the parts of its text
 */
export function sendPartsInRoom<R extends Response>(
  c: Context<HttpEnv>,
  bytes: number,
  make: () => Promise<{ made: R; parts: Iterable<string> }>,
): Promise<R> {
  return sendMade(c, bytes, async (answer) => {
    const { made, parts } = await make()
    const isWanted = c.req.method !== 'HEAD'
    if (!isWanted) release(answer)
    return new Response(isWanted ? sending(encoded(parts), answer) : null, made) as R
  })
}

/** @param make releases the answer if it is not to be sent piece by piece */
function sendMade<R extends Response>(
  c: Context<HttpEnv>,
  bytes: number,
  make: (answer: Answer) => Promise<R>,
): Promise<R> {
  return toItsEnd(c.get('rt'), async () => {
    const answer = await enter(projectOf(c.get('actor')), bytes)
    try {
      return await make(answer)
    } catch (error) {
      release(answer)
      throw error
    }
  })
}

/** Does work that the runtime does not end when the caller hangs up. */
function toItsEnd<T>(rt: Pick<Runtime, 'waitUntil'>, work: () => Promise<T>): Promise<T> {
  const done = work()
  rt.waitUntil(done.catch(() => {}))
  return done
}

function* chunksOf(body: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < body.byteLength; from += ANSWER_CHUNK) yield body.subarray(from, from + ANSWER_CHUNK)
}

/** A text in UTF-8, in full chunks. */
function* encoded(parts: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  let chunk = new Uint8Array(ANSWER_CHUNK)
  let filled = 0
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const { read, written } = encoder.encodeInto(part.slice(from), chunk.subarray(filled))
      from += read
      filled += written
      if (from === part.length) break
      yield chunk.subarray(0, filled)
      chunk = new Uint8Array(ANSWER_CHUNK)
      filled = 0
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}

/** An answer, chunk by chunk as the caller reads it. */
function sending(chunks: Iterator<Uint8Array>, answer: Answer): ReadableStream<Uint8Array> {
  let left: Iterator<Uint8Array> | null = chunks
  answer.since = Date.now()
  answer.cut = () => {
    left = null
  }
  const end = () => {
    left = null
    release(answer)
  }
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (left === null) return controller.error(new Error('the answer was read too slowly'))
        try {
          const { done, value } = left.next()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          writeLog('error', 'answer_cut_off', { error: String(error) })
          controller.error(error)
        }
        end()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

/** Waits for room. @throws {Fault} `overloaded` */
async function enter(project: string, bytes: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const now = Date.now()
  const waiter: Waiter = {
    bytes: Math.min(bytes, MAX_PROJECT_ANSWERING_BYTES),
    until: now + ANSWER_WAIT_MS,
    enter: resolve,
  }
  waiting.set(project, [...(waiting.get(project) ?? []), waiter])
  admit(now)
  if (!isWaiting(project, waiter)) return promise
  const timer = setTimeout(() => {
    admit(waiter.until)
    dismiss(project, waiter)
    reject(overloaded()) // also if another request has dismissed it; nothing happens if it was let in
  }, ANSWER_WAIT_MS)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

/** Admits requests that fit, one project after the other, so that a project with many does not hold up the others. */
function admit(now: number): void {
  forgetLost(now)
  for (const [project, [first]] of waiting) {
    if (!first) continue
    if (!makeOwnRoom(project, first.bytes, now)) continue
    if (!makeRoom(first.bytes, now)) return
    dismiss(project, first)
    const answer: Answer = { owners: [project], bytes: first.bytes, since: now, cut: null }
    answering.add(answer)
    first.enter(answer)
  }
}

/** Whether the project may have so much more. If not, its own answers that are taken slowly are cut off first. */
function makeOwnRoom(project: string, bytes: number, now: number): boolean {
  while (answering.of(project) + bytes > MAX_PROJECT_ANSWERING_BYTES) {
    const slow = answering.heaviest((answer) => answer.owners.includes(project) && isSlow(answer, now))
    if (!slow) return false
    drop(slow)
  }
  return true
}

/** Whether there is room. If not, answers that are taken slowly are cut off, beginning with the project that holds the most. */
function makeRoom(bytes: number, now: number): boolean {
  while (answering.total() + bytes > MAX_ANSWERING_BYTES) {
    const slow = answering.heaviest((answer) => isSlow(answer, now))
    if (!slow) return false
    drop(slow)
  }
  return true
}

/** Whether an answer has been sending for long. One that is being made cannot be cut off. */
function isSlow({ cut, since }: Answer, now: number): boolean {
  return cut !== null && now - since >= SLOW_ANSWER_MS
}

/** Ends what has taken too long: when a caller hangs up, the runtime ends some requests without a signal. */
function forgetLost(now: number): void {
  for (const answer of answering.all) {
    if (now - answer.since > (answer.cut === null ? MAKING_DEADLINE : ANSWER_DEADLINE)) drop(answer)
  }
  for (const [project, waiters] of waiting) {
    for (const waiter of waiters) if (waiter.until < now) dismiss(project, waiter)
  }
}

function release(answer: Answer): void {
  answering.leave(answer)
  admit(Date.now())
}

function drop(answer: Answer): void {
  answering.leave(answer)
  answer.cut?.()
}

function isWaiting(project: string, waiter: Waiter): boolean {
  return waiting.get(project)?.includes(waiter) === true
}

/** Removes one request from the queue. The next turn of its project comes after the other projects. */
function dismiss(project: string, waiter: Waiter): void {
  const rest = (waiting.get(project) ?? []).filter((other) => other !== waiter)
  waiting.delete(project)
  if (rest.length > 0) waiting.set(project, rest)
}

function overloaded(): Fault {
  return new Fault('overloaded', 'Too many payloads are being read at once. Try again, with fewer requests at a time.')
}
