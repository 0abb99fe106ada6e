import { vi } from 'vitest'
import { BODY_DEADLINE, MAX_ARRIVING_BYTES } from '../../src/http/limits'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { stopTimers } from '../clock'
import { type Answer, call, type RequestOptions } from '../harness'
import { until } from '../inbox/receive/until'

/** A body that sends its chunks and then nothing more, until it is ended. */
export function openBody(...chunks: Uint8Array[]) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = 0
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        asked += 1
        const chunk = chunks[asked - 1]
        if (chunk) return controller.enqueue(chunk)
        await promise
        if (!cancelled) controller.close()
      },
      cancel: () => {
        cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return {
    stream,
    end: resolve,
    cancelled: () => cancelled,
    /** Waits until all chunks have been read. */
    read: () => until(() => asked > chunks.length),
  }
}

/** Sends a body that stalls, and lets the time for it pass. */
export async function stalled(path: string, options: RequestOptions = {}): Promise<Answer> {
  const body = openBody(new Uint8Array(10))
  stopTimers()
  try {
    const answer = call(path, { method: 'POST', ...options, body: body.stream })
    await body.read()
    await vi.advanceTimersByTimeAsync(BODY_DEADLINE)
    return await answer
  } finally {
    vi.useRealTimers()
  }
}

/** As many bodies of the largest size as an isolate holds. */
export const CROWD = MAX_ARRIVING_BYTES / MAX_DELIVERY_BYTES

/** Sends one body more than an isolate holds, all of them stalled before their end. @returns the answers, oldest first */
export async function crowd(path: string): Promise<Answer[]> {
  const bodies = Array.from({ length: CROWD + 1 }, () => openBody(new Uint8Array(MAX_DELIVERY_BYTES)))
  const answers: Promise<Answer>[] = []
  for (const { stream, read } of bodies) {
    answers.push(call(path, { method: 'POST', body: stream }))
    await read()
  }
  const first = await answers[0]
  for (const { end } of bodies) end()
  return first ? [first, ...(await Promise.all(answers.slice(1)))] : []
}

/** The answer to the one that makes room for the others. */
export async function crowdedOut(path: string): Promise<Answer> {
  const [first] = await crowd(path)
  if (!first) throw new Error('nothing was sent')
  return first
}
