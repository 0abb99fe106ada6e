import { sha256Hex } from '../../lib/crypto'
import { isObject, type Json } from '../../vendors/lib/json'
import { DIGEST_LENGTH } from './limits'

/**
 * A digest of an event's content. It does not depend on the order of fields or on whitespace, which a vendor may write
 * differently each time.
 *
 * @returns null for content that is nested too deeply
 */
export async function contentDigest(content: Json): Promise<string | null> {
  const text = canonical(content)
  return text === null ? null : (await sha256Hex(text)).slice(0, DIGEST_LENGTH)
}

function canonical(content: Json): string | null {
  try {
    return JSON.stringify(content, (_, value) => (isObject(value) ? sorted(value) : value))
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) return null
    throw error
  }
}

function sorted(object: Json): Json {
  const keys = Object.keys(object)
  return Object.fromEntries(keys.sort().map((key) => [key, object[key]]))
}
