import { ConstraintError } from '../db/client'
import { utf8 } from '../lib/crypto'
import { SECOND } from '../lib/time'
import { MIN_DEFLATED_BYTES } from './limits'
import { MAX_DELIVERY_BYTES } from './receive/limits'

/*
 * How bodies are packed. Text is deflated where that makes it smaller. Bytes that are not UTF-8 stay as they are: they are rare, and
 * never decoded.
 */

/** A body as it is stored: see `packed_bodies`. */
export type Packed = { encoding: 'deflate' | null; bytes: number; body: string | Uint8Array<ArrayBuffer> }

/** @param body text where the bytes are UTF-8 without NUL, else the bytes */
export async function packed(body: string | Uint8Array<ArrayBuffer>): Promise<Packed> {
  if (typeof body !== 'string') return { encoding: null, bytes: body.byteLength, body }
  const plain = utf8(body)
  const bytes = plain.byteLength
  if (bytes < MIN_DEFLATED_BYTES) return { encoding: null, bytes, body }
  const deflated = new Uint8Array(
    await new Response(through(plain, new CompressionStream('deflate-raw'))).arrayBuffer(),
  )
  return deflated.byteLength < bytes ? { encoding: 'deflate', bytes, body: deflated } : { encoding: null, bytes, body }
}

/**
 * The text of a deflated body, which is byte for byte what was packed. It stops at {@link MAX_DELIVERY_BYTES}.
 *
 * @throws {Error} if the text is longer, or the bytes are not what {@link packed} makes
 */
export async function inflated(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let bytes = 0
  for await (const chunk of through(body, new DecompressionStream('deflate-raw'))) {
    bytes += chunk.byteLength
    if (bytes > MAX_DELIVERY_BYTES) throw new Error('a stored payload is larger than a delivery may be')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream) {
  return new Blob([bytes]).stream().pipeThrough(transform)
}

/** Random values in a key, beside the second. Together they have 53 bits, so that a key is exact as a JavaScript number. */
const RANDOM = 2 ** 21

/**
 * A new key of a packed body. Keys sort by the second. Two of the same second are equal once in two million times. Recording then
 * fails ({@link isKeyTaken}), and another key is tried.
 *
 * @param receivedAt milliseconds
 */
export function newKey(receivedAt: number): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return keyFloor(receivedAt) + (random % RANDOM)
}

/** The smallest key of the second of a time (ms). */
export function keyFloor(time: number): number {
  return Math.floor(time / SECOND) * RANDOM
}

/** Whether recording failed because another body has the key. */
export function isKeyTaken(error: unknown): boolean {
  return error instanceof ConstraintError && error.message.includes('UNIQUE constraint failed: packed_bodies.key')
}
