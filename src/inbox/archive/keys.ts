/**
 * The key of an id in `archived_refs`: 53 bits, so that it is exact as a JavaScript number. Two ids can have the same key. A reader then
 * unpacks a pack in vain. (The mixing is that of MurmurHash3.)
 *
 * @param text the id of an event, or an id that events refer to
 */
export function archiveKey(projectId: string, text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (const char of `${projectId} ${text}`) {
    const code = char.codePointAt(0) ?? 0
    high = Math.imul(high ^ code, 0x85ebca6b)
    low = Math.imul(low ^ code, 0xc2b2ae35)
  }
  return 2 ** 32 * (mixed(high, low) & 0x1fffff) + (mixed(low, high) >>> 0)
}

function mixed(one: number, other: number): number {
  const first = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35)
  return first ^ (first >>> 16)
}
