import { keyFrom, MAX_KEY } from '../../../lib/catalog-key'
import { text } from '../../form'

/** What a key may have, as a form says it. */
export const KEY_HINT = 'It starts with a letter; after that, use a to z, 0 to 9 and _ . - only.'

/** The field of a new key. If it is empty, the key is made from the name: console.js shows it. @param use what the key is for */
export function newKeyField(use: string) {
  const hint = `${use} ${KEY_HINT} If you leave it empty, it is made from the name: “API calls” becomes api_calls.`
  const field = text('Key', { maxlength: MAX_KEY, hint })
  return { ...field, read: (key: string, sent: URLSearchParams) => key || keyFrom(sent.get('name') ?? '') }
}
