import { tamperedD1 } from '../../harness'

/** The real D1, and the weight of what passes. */
export function weighedD1() {
  /** Of each call: all that it answered. Of all statements, and of those of claims: the heaviest of their bound values. */
  const weight = { answers: [] as number[], heaviestBound: 0, heaviestClaim: 0, numberLists: 0 }
  /** How often each packed payload was handed out. */
  const payloads = new Map<string, number>()
  const DB = tamperedD1(async ({ sql, values, run }) => {
    for (const value of values.flat()) {
      if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) weight.numberLists += 1
      weight.heaviestBound = Math.max(weight.heaviestBound, bytesOf(value))
    }
    if (/"tries" \+ 1/.test(sql)) weight.heaviestClaim = Math.max(weight.heaviestClaim, ...values.flat().map(bytesOf))
    const results = await run()
    weight.answers.push(results.reduce((sum, result) => sum + bytes(result.results), 0))
    for (const value of results.flatMap(({ results }) => results as object[]).flatMap(Object.values)) {
      if (Array.isArray(value)) weight.numberLists += 1
    }
    for (const { encoding, hex } of results.flatMap(({ results }) => results as Record<string, unknown>[])) {
      if (encoding === 'deflate') payloads.set(String(hex), (payloads.get(String(hex)) ?? 0) + 1)
    }
    return results
  })
  return { DB, weight, payloads }
}

/** Bytes of a bound value. */
function bytesOf(value: unknown): number {
  return typeof value === 'string' ? new TextEncoder().encode(value).byteLength : bytes(value)
}

/** Bytes of what is answered, as JSON. */
function bytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? '').byteLength
}
