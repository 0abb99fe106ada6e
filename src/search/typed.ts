/** What was typed into a search, and what it can mean. */
export type Typed = {
  text: string
  /** For comparisons with SQLite's `lower()`, which knows the letters of ASCII only. */
  lower: string
  /** The prefix of an id of ours, if the text is one. Such a text is only looked for among the ids of that kind. */
  id: string | null
}

const OWN_ID = /^([a-z]{3})_[0-9a-hjkmnp-tv-z]{26,30}$/

/** @param text without white space at its ends */
export function typed(text: string): Typed {
  const lower = text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return { text, lower, id: OWN_ID.exec(text)?.[1] ?? null }
}

/** Whether a text can be the secret of an API key, a device or a session, which must not be in an address. */
export function isSecret(text: string): boolean {
  return /^[a-z]{3,4}_[a-z0-9]{2}_[0-9a-f]{24,}/i.test(text)
}
