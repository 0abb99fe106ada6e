import { integer } from './json'

/** A vendor's number of an object's state, which goes up with each change; null for anything else. */
export function versionOf(value: unknown): number | null {
  const version = integer(value)
  return version !== null && version >= 0 ? version : null
}
