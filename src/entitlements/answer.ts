import type { Context } from 'hono'
import type { Queries, Results } from '../db/client'
import { inRoom, sendInRoom } from '../http/answering'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { MAX_SMALL_BYTES } from '../http/limits'
import { read } from '../http/read'
import { lacking, readWhole } from './holders'
import type { Extent, factsOf } from './read'

/** The statements of facts, perhaps with others. */
type Facts = Queries & ReturnType<typeof factsOf>

/** Reads facts. If they are large, that waits for room: see http/answering.ts. @throws {Fault} `overloaded` */
export async function readFacts<Q extends Facts>(
  c: Context<HttpEnv>,
  facts: (extent: Extent) => Q,
): Promise<Results<Q>> {
  const found = await read(c, facts({}))
  const more = lacking(found)
  if (more === null) return found
  const whole = () => readWhole(found, (extent) => read(c, facts(extent)))
  return inRoom(c.get('rt'), projectOf(c.get('actor')), more.bytes, whole)
}

/**
 * Reads facts and answers. What is large waits for room, and leaves it when it is sent: see http/answering.ts.
 *
 * @param make `bytes`: about as many as the answer has; `send` makes the response
 * @param atLeast bytes of the room that it waits for in any case, before it makes anything
 * @throws {Fault} `overloaded`
 */
export async function answerFacts<Q extends Facts, R extends Response>(
  c: Context<HttpEnv>,
  facts: (extent: Extent) => Q,
  make: (found: Results<Q>) => { bytes: number; send: () => R | Promise<R> },
  atLeast = 0,
): Promise<R> {
  const found = await read(c, facts({}))
  const more = lacking(found)
  if (more !== null || atLeast > 0) {
    const whole = () => readWhole(found, (extent) => read(c, facts(extent)))
    return sendInRoom(c, Math.max(atLeast, more?.bytes ?? 0), async () => make(await whole()).send())
  }
  const { bytes, send } = make(found)
  return bytes <= MAX_SMALL_BYTES ? send() : sendInRoom(c, bytes, async () => send())
}

/** Bytes of an entitlement beside its value, about. */
const BYTES_OF_REST = 120

/** About how many bytes an answer with entitlements of these values has. */
export function bytesOfValues(values: readonly unknown[]): number {
  const known = new Map<unknown, number>() // a config that many consumers have is one object
  const bytesOf = (value: unknown) => {
    const bytes = known.get(value) ?? JSON.stringify(value).length
    known.set(value, bytes)
    return bytes
  }
  return values.reduce((sum: number, value) => sum + BYTES_OF_REST + bytesOf(value), 0)
}
