import { lowered } from '../db/sql'
import { isOwnId } from '../lib/ids'

/** What is searched for, and what it can mean. */
export type SearchText = {
  text: string
  /** For comparisons with SQLite's `lower()`. */
  lower: string
  /**
   * The prefix of an id of ours, if the text looks like one. Names are not compared with it. Ids of vendors and external ids are,
   * because some look the same, such as Paddle's.
   */
  id: string | null
}

/** @param text without white space at its ends */
export function readText(text: string): SearchText {
  return { text, lower: lowered(text), id: isOwnId(text) ? text.slice(0, 3) : null }
}

/** Whether a text can be the secret of an API key, a device, a session or a webhook, which must not be in an address. */
export function looksSecret(text: string): boolean {
  return /^([a-z]{3}_[a-z0-9]{2}_[0-9a-f]{24,}|(whsec|whsk)_|pdl_ntfset_)/i.test(text)
}
