import { Fault } from '../lib/fault'
import { type Holding, heldBytes } from '../lib/held-bytes'
import { SECOND } from '../lib/time'
import { BODY_DEADLINE, MAX_ARRIVING_BYTES } from './limits'

/**
 * A body that is arriving, and since when (ms). `fault`: why it is refused early. `wake` makes its reader look at that.
 */
type Arrival = Holding & { since: number; fault: Fault | null; wake: () => void }

/** The bodies that are arriving in this isolate, oldest first, and their bytes so far. */
const arriving = heldBytes<Arrival>()

/** The first size of a body's buffer, in bytes. A full buffer is doubled. */
const FIRST_ROOM = 16 * 1024

/**
 * Reads the whole body. It stops at the limit and at {@link BODY_DEADLINE}, and cancels the rest. While all bodies that
 * are arriving hold more than {@link MAX_ARRIVING_BYTES}, one of them is refused: the oldest, and so the slowest, of
 * the owners that send the most at once. So a caller who sends many slow bodies makes room with their own.
 *
 * @param max the largest body, in bytes
 * @param owners what its bytes count against: the caller's address and, where anybody may send, what the body is sent to
 * @throws {Fault} `payload_too_large`, `body_timeout`, `body_incomplete`, `overloaded`
 */
export async function readBytes(
  request: Request,
  max: number,
  owners: readonly string[],
): Promise<Uint8Array<ArrayBuffer>> {
  requireDeclaredSize(request, max)
  if (!request.body) return new Uint8Array(0)
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const arrival: Arrival = { owners, since: Date.now(), bytes: 0, fault: null, wake: () => {} }
  forgetLost(arrival.since)
  const timer = setTimeout(() => refuse(arrival, tooSlow()), BODY_DEADLINE)
  arriving.add(arrival)
  try {
    return await collect(reader, arrival, max)
  } catch (error) {
    reader.cancel().catch(() => {}) // It fails if the caller has hung up. Nothing is left to cancel then.
    throw error instanceof Fault ? error : cutOff(error)
  } finally {
    clearTimeout(timer)
    arriving.leave(arrival)
  }
}

/** Refuses a body that is too large by its own account, with nothing read. @throws {Fault} `payload_too_large` */
export function requireDeclaredSize(request: Request, max: number): void {
  if (Number(request.headers.get('Content-Length') ?? 0) > max) throw tooLarge(max)
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  arrival: Arrival,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  // One buffer, not a list of chunks: a body sent byte by byte would take many times its size.
  let bytes = new Uint8Array(Math.min(FIRST_ROOM, max))
  let size = 0
  for (;;) {
    const chunk = await nextChunk(reader, arrival)
    if (chunk === null) return new Uint8Array(bytes.buffer.transfer(size))
    if (size + chunk.byteLength > max) throw tooLarge(max)
    arrive(arrival, chunk.byteLength)
    while (size + chunk.byteLength > bytes.byteLength) {
      bytes = new Uint8Array(bytes.buffer.transfer(Math.min(2 * bytes.byteLength, max)))
    }
    bytes.set(chunk, size)
    size += chunk.byteLength
  }
}

/** The next chunk of a body; null at its end. @throws {Fault} why it is refused, even while nothing arrives */
async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  arrival: Arrival,
): Promise<Uint8Array | null> {
  // Not Promise.race with one promise for the whole body: that would keep something for each chunk until the end.
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>()
  arrival.wake = () => resolve(null)
  reader.read().then(({ done, value }) => resolve(done ? null : value), reject)
  const chunk = await promise
  if (arrival.fault) throw arrival.fault
  return chunk
}

/** Counts bytes that have arrived. If that is too much, bodies are refused, perhaps this one. */
function arrive(arrival: Arrival, bytes: number): void {
  arriving.grow(arrival, bytes)
  while (arriving.total() > MAX_ARRIVING_BYTES) {
    const heaviest = arriving.heaviest()
    if (!heaviest) break
    arriving.leave(heaviest)
    refuse(heaviest, overloaded())
  }
  if (arrival.fault) throw arrival.fault
}

/** Ends the arrivals whose time is over: when a caller hangs up, the runtime ends some requests without a signal. */
function forgetLost(now: number): void {
  for (const oldest of arriving.all) {
    if (now - oldest.since <= BODY_DEADLINE) return
    arriving.leave(oldest)
  }
}

function refuse(arrival: Arrival, fault: Fault): void {
  arrival.fault ??= fault
  arrival.wake()
}

function tooLarge(max: number): Fault {
  return new Fault('payload_too_large', `Send at most ${max} bytes.`)
}

function tooSlow(): Fault {
  return new Fault('body_timeout', `Send the whole body within ${BODY_DEADLINE / SECOND} seconds.`)
}

function overloaded(): Fault {
  return new Fault(
    'overloaded',
    'Too many bodies are arriving at once, and this one was among the slowest. Send it again.',
  )
}

function cutOff(cause: unknown): Fault {
  return new Fault('body_incomplete', 'The body ended before it was complete. Send the request again.', { cause })
}
