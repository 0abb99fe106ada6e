/*
 * What a sender signs, as a text with variables: `{time}.{body}`. The variables are the body, the time of the signature,
 * the address and named headers.
 */

/** Characters of all plain text of a template. */
export const MAX_TEMPLATE_TEXT = 40
/** Headers of a template. */
export const MAX_TEMPLATE_HEADERS = 3

/** A piece of a template: plain text, or a variable. `name`: of the header. */
export type Part =
  | { of: 'text'; text: string }
  | { of: 'body' }
  | { of: 'time' }
  | { of: 'url' }
  | { of: 'header'; name: string }

const PIECE = /\{(body|time|url|header:([A-Za-z0-9_-]{1,100}))\}|([\x20-\x7a|~\n]+)/y

/** The pieces of a template; null if it has another variable, a lone brace, or a character that is not printable ASCII. */
export function partsOf(template: string): Part[] | null {
  const parts: Part[] = []
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < template.length) {
    const found = PIECE.exec(template)
    if (!found) return null
    const [, variable, header, text] = found
    if (text !== undefined) parts.push({ of: 'text', text })
    else if (header !== undefined) parts.push({ of: 'header', name: header.toLowerCase() })
    else parts.push({ of: variable as 'body' | 'time' | 'url' })
  }
  return parts
}

/**
 * What makes a template unsafe, as a sentence that follows its name; null if nothing does.
 *
 * A captured signature stays right if the same text can be read as other values: `{header:id}{body}` signs "ab" for the
 * id "a" and the body "b", and for the id "ab" without a body. So plain text is needed between variables; {@link splitsAt}
 * then says what a header may not contain. A time has a fixed number of digits: `{time}{body}` reads in one way only.
 */
export function unsafeIn(parts: readonly Part[] | null): string | null {
  if (!parts) return 'must have only printable characters and the variables {body}, {time}, {url}, {header:name}'
  const count = (of: Part['of']) => parts.filter((part) => part.of === of).length
  if (count('body') !== 1) return 'must contain {body} once: otherwise anyone could change the body'
  if (count('time') > 1 || count('url') > 1) return 'may contain {time} and {url} at most once each'
  const headers = parts.flatMap((part) => (part.of === 'header' ? [part.name] : []))
  if (headers.length > MAX_TEMPLATE_HEADERS) return `may contain at most ${MAX_TEMPLATE_HEADERS} headers`
  if (new Set(headers).size < headers.length) return 'may contain each header at most once'
  const plain = parts.reduce((sum, part) => sum + (part.of === 'text' ? part.text.length : 0), 0)
  if (plain > MAX_TEMPLATE_TEXT) return `may have at most ${MAX_TEMPLATE_TEXT} characters besides its variables`
  const touching = parts.some((part, i) => {
    const next = parts[i + 1]
    return part.of !== 'text' && next && next.of !== 'text' && !(part.of === 'time' && next.of === 'body')
  })
  return touching
    ? 'must have text between two variables, except {time}{body}: otherwise one signature fits several deliveries'
    : null
}

/**
 * The character that the header at this place may not contain, because a text with it could be read in two ways: the
 * first one of the text that follows or, after the body, the last one of the text before. Null if there is none.
 */
export function splitsAt(parts: readonly Part[], index: number): string | null {
  const afterBody = parts.slice(0, index).some(({ of }) => of === 'body')
  const beside = parts[afterBody ? index - 1 : index + 1]
  if (beside?.of !== 'text') return null
  return (afterBody ? beside.text.at(-1) : beside.text[0]) ?? null
}
