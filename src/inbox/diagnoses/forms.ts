import { utf8 } from '../../lib/crypto'
import { MAX_FORM_DEPTH } from './limits'

/** Forms that a body may have been signed in: with other white space around it, or as JSON that is written otherwise. */
export function otherForms(bytes: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes)
  const plain = text.replace(/^\ufeff/, '')
  const forms = [plain, plain.trimEnd(), `${plain}\n`, ...asJson(plain)]
  return [...new Set(forms)].filter((form) => form !== text).map(utf8)
}

/** A text of JSON as it is written without spaces, and on lines of their own; none for other texts. */
function asJson(text: string): string[] {
  // Deep values take much room on lines of their own: each level indents all that is in it.
  if (depthOf(text) > MAX_FORM_DEPTH) return []
  try {
    const value: unknown = JSON.parse(text)
    return [JSON.stringify(value), JSON.stringify(value, null, 2)]
  } catch {
    return [] // A form, for example.
  }
}

/** How deep the brackets of a text are nested, at most; those in strings count too. */
function depthOf(text: string): number {
  let depth = 0
  let most = 0
  for (const char of text) {
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    most = Math.max(most, depth)
  }
  return most
}
