/** Characters of the key of a feature or a plan. */
export const MAX_KEY = 64
/** The key of a feature or a plan. */
export const CATALOG_KEY = new RegExp(`^[a-z][a-z0-9_.-]{0,${MAX_KEY - 1}}$`)
export const KEY_RULE = `must have at most ${MAX_KEY} characters, begin with a letter from a to z, and have only a to z, 0 to 9 and _ . - after it`

/** A key made from a name: `api_calls` from “API calls”. Empty if the name has none of the letters a to z. console.js shows it. */
export function keyFrom(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const key = plain.replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+/, '')
  return key.slice(0, MAX_KEY).replace(/_$/, '')
}
