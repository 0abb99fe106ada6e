const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700
const FIRST = 128

/** A host name with its A-labels (`xn--…`) decoded, for people to read. A label that cannot be decoded stays as it is. */
export function toUnicode(hostname: string): string {
  return hostname
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decoded(label.slice('xn--'.length)) ?? label) : label))
    .join('.')
}

/** Punycode → text (RFC 3492, section 6.2); null if it is not Punycode. */
function decoded(text: string): string | null {
  const basic = Math.max(0, text.lastIndexOf('-'))
  const output = [...text.slice(0, basic)].map((char) => char.charCodeAt(0))
  let code = FIRST
  let bias = 72
  let i = 0
  let at = basic > 0 ? basic + 1 : 0
  while (at < text.length) {
    const before = i
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(text[at++])
      if (digit === null) return null
      i += digit * weight
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias))
      if (digit < threshold) break
      weight *= BASE - threshold
    }
    bias = adapted(i - before, output.length + 1, before === 0)
    code += Math.floor(i / (output.length + 1))
    i %= output.length + 1
    if (code > 0x10ffff) return null
    output.splice(i++, 0, code)
  }
  return String.fromCodePoint(...output)
}

function digitOf(char: string | undefined): number | null {
  if (char === undefined || !/^[a-z0-9]$/.test(char)) return null
  return /\d/.test(char) ? Number(char) + 26 : char.charCodeAt(0) - 'a'.charCodeAt(0)
}

/** The bias for the next number (section 6.1). */
function adapted(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2))
  rest += Math.floor(rest / points)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
