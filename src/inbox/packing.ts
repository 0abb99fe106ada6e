import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ConstraintError } from '../db/client'
import { utf8 } from '../lib/crypto'
import { SECOND } from '../lib/time'
import { MIN_DEFLATED_BYTES } from './limits'
import { MAX_DELIVERY_BYTES } from './receive/limits'

/*
 * How bodies are packed. Text is deflated where that makes it smaller. Bytes that are not UTF-8 stay as they are: they are rare, and
 * never decoded.
 *
 * Node.js's zlib takes a call for each body. A CompressionStream or DecompressionStream takes several promises and buffers of 4 KB:
 * for a body of 4 KB, twice and ten times the CPU, and three times the memory.
 */

/** A body as it is stored: see `packed_bodies`. */
export type Packed = { encoding: 'deflate' | null; bytes: number; body: string | Uint8Array<ArrayBuffer> }

/** @param body text where the bytes are UTF-8 without NUL, else the bytes */
export function packed(body: string | Uint8Array<ArrayBuffer>): Packed {
  if (typeof body !== 'string') return { encoding: null, bytes: body.byteLength, body }
  const plain = utf8(body)
  const bytes = plain.byteLength
  if (bytes < MIN_DEFLATED_BYTES) return { encoding: null, bytes, body }
  const smaller = deflated(plain)
  return smaller.byteLength < bytes ? { encoding: 'deflate', bytes, body: smaller } : { encoding: null, bytes, body }
}

/** @param dictionary what texts of this kind often have. {@link inflated} needs the same one */
export function deflated(text: string | Uint8Array, dictionary?: Uint8Array): Uint8Array<ArrayBuffer> {
  return deflateRawSync(text, dictionary && { dictionary })
}

/**
 * What was deflated, byte for byte. It stops at {@link MAX_DELIVERY_BYTES}.
 *
 * @throws {Error} if there are more bytes, or they are not what {@link deflated} makes
 */
export function inflated(bytes: Uint8Array, dictionary?: Uint8Array): Uint8Array<ArrayBuffer> {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_DELIVERY_BYTES, ...(dictionary && { dictionary }) })
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new Error('a stored payload is larger than a delivery may be', { cause })
  }
}

/** Random values in a key, beside the second. Together they have 53 bits, so that a key is exact as a JavaScript number. */
const RANDOM = 2 ** 21

/** Where this isolate's keys of a second go on. */
let next = { second: Number.NaN, random: 0 }

/**
 * A new key of a packed body. Keys sort by the second. An isolate numbers its bodies of a second from a random number on, so that
 * keys that it makes one after another in a second differ. Two isolates can choose the same key: recording then fails ({@link isKeyTaken}), and {@link otherKey} is tried.
 *
 * @param receivedAt milliseconds
 */
export function newKey(receivedAt: number): number {
  const second = Math.floor(receivedAt / SECOND)
  if (next.second !== second) next = { second, random: randomNumber() }
  return keyFloor(receivedAt) + (next.random++ % RANDOM)
}

/** A random key, for when the first is taken. The next number is not used: the other isolate may have taken it too. @param receivedAt milliseconds */
export function otherKey(receivedAt: number): number {
  return keyFloor(receivedAt) + (randomNumber() % RANDOM)
}

/** New keys of bodies that are recorded together: no two are equal. */
export function newKeys(receivedAt: number, n: number): number[] {
  const first = randomNumber()
  return Array.from({ length: n }, (_, i) => keyFloor(receivedAt) + ((first + i) % RANDOM))
}

function randomNumber(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return random
}

/** The smallest key of the second of a time (ms). */
export function keyFloor(time: number): number {
  return Math.floor(time / SECOND) * RANDOM
}

/** Whether recording failed because another body has the key. */
export function isKeyTaken(error: unknown): boolean {
  return error instanceof ConstraintError && error.message.includes('UNIQUE constraint failed: packed_bodies.key')
}
