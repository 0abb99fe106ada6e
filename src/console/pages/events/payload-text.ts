/** The parts of JSON: strings, empty and other brackets, commas and colons, and the words between them. */
export const TOKENS = /"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Indents JSON. It changes only whitespace: numbers and escapes stay as the vendor wrote them, which parsing and
 * serializing again would not guarantee.
 *
 * @param most stops after about this many characters
 * @returns null if the text is not JSON
 */
export function indented(text: string, most = Number.POSITIVE_INFINITY): string | null {
  if (!isJson(text)) return null
  let out = ''
  let depth = 0
  for (const [token] of text.matchAll(TOKENS)) {
    if (out.length > most) break
    const line = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENT))}`
    if (token === '{' || token === '[') {
      depth += 1
      out += token + line()
    } else if (token === '}' || token === ']') {
      depth -= 1
      out += line() + token
    } else if (token === ',') out += token + line()
    else out += token === ':' ? ': ' : token.replace(/^([{[])\s+/, '$1')
  }
  return out
}

/** Levels that are indented: without a limit, a payload of a million brackets would take a million times as much. */
const MAX_INDENT = 40

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** JSON as a tree whose texts are as the vendor wrote them. */
export type Tree = { leaf: string } | { open: '{' | '['; entries: Entry[] }
export type Entry = { name: string | null; value: Tree }

/** Bytes of HTML around a value of a tree, and around an object or a list: see json-tree.tsx. */
export const MARKS = { leaf: 32, branch: 112 }

/**
 * Parses JSON into a tree.
 *
 * @param limits the bytes of HTML and the levels that the tree may have
 * @returns null if the text is not JSON, or the tree is larger
 */
export function treeOf(text: string, limits: { bytes: number; levels: number }): Tree | null {
  if (!isJson(text)) return null
  const root: Entry[] = []
  const above = [root]
  let name: string | null = null
  let last: string | null = null
  let bytes = 0
  for (const [token] of text.matchAll(TOKENS)) {
    const here = above.at(-1) as Entry[]
    if (token === ':') {
      // What came before the colon was a name.
      name = last
      here.pop()
      bytes -= MARKS.leaf
    } else if (token === '}' || token === ']') above.pop()
    else if (token !== ',') {
      const opens = token === '{' || token === '['
      bytes += opens ? MARKS.branch : MARKS.leaf + bytesInHtml(token)
      const value: Tree = opens ? { open: token, entries: [] } : { leaf: token.replace(/^([{[])\s+/, '$1') }
      here.push({ name, value })
      name = null
      last = token
      if ('entries' in value) above.push(value.entries)
      if (bytes > limits.bytes || above.length > limits.levels) return null
    }
  }
  return root[0]?.value ?? null
}

const ESCAPED: Record<string, number> = { '"': 6, "'": 5, '&': 5, '<': 4, '>': 4 }

/** How many bytes a text takes in HTML, where some characters are escaped. */
export function bytesInHtml(text: string): number {
  let bytes = 0
  for (const char of text) bytes += bytesOf(char)
  return bytes
}

function bytesOf(char: string): number {
  const code = char.codePointAt(0) as number
  return ESCAPED[char] ?? (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4)
}

/** The beginning of a text that takes at most so many bytes in HTML. */
export function firstInHtml(text: string, most: number): string {
  let bytes = 0
  let end = 0
  for (const char of text) {
    bytes += bytesOf(char)
    if (bytes > most) return text.slice(0, end)
    end += char.length
  }
  return text
}

const WIDTH = 16

/** A hex dump: the offset, the bytes in hexadecimal, and the printable ASCII characters. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const row = [...bytes.subarray(at, at + WIDTH)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(WIDTH * 3)} ${text}`)
  }
  return lines.join('\n')
}
