/**
 * Indents JSON. It changes only whitespace: numbers and escapes stay as the vendor wrote them, which parsing and
 * serializing again would not guarantee.
 *
 * @param most stops after about this many characters
 * @returns null if the text is not JSON
 */
export function indented(text: string, most = Number.POSITIVE_INFINITY): string | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  let out = ''
  let depth = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (out.length > most) break
    const line = () => `\n${'  '.repeat(depth)}`
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
