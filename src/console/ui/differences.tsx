import { cut } from './format'

/** One changed field or part. `from`, `to`: as text; null if it was, or is, not there. `from` is undefined if it is not known. */
export type Difference = { what: string; from: string | null | undefined; to: string | null }

/** Characters that are shown of a name and of a value, and of what is the same before the first difference. */
const NAME_SHOWN = 60
const SHOWN = 80
const SAME_SHOWN = 20

/** What changed: each field with its value before, where that is known, and after. @param most how many are shown */
export function Differences({ of, most }: { of: readonly Difference[]; most: number }) {
  return (
    <ul class="changes">
      {of.slice(0, most).map((one) => {
        const { what, values } = shortened(one)
        return (
          <li>
            <span class="quiet">{what}:</span> {values}
          </li>
        )
      })}
      {of.length > most && <li class="quiet">and {(of.length - most).toLocaleString('en')} more</li>}
    </ul>
  )
}

/** A difference as a line of text. */
export function inLine(one: Difference): string {
  const { what, values } = shortened(one)
  return `${what}: ${values}`
}

function shortened({ what, from, to }: Difference): { what: string; values: string } {
  const after = to ?? 'none'
  const values = from === undefined ? cut(after, SHOWN) : apart(from ?? 'none', after).join(' → ')
  return { what: cut(what, NAME_SHOWN), values }
}

/** Two texts, cut so that the place where they differ is shown. */
function apart(from: string, to: string): [string, string] {
  const [a, b] = [[...from], [...to]]
  const first = a.findIndex((char, at) => char !== b[at])
  const begin = Math.max(a.length, b.length) <= SHOWN || first < SHOWN / 2 ? 0 : first - SAME_SHOWN
  const part = (text: string[]) => (begin > 0 ? '…' : '') + cut(text.slice(begin).join(''), SHOWN)
  return [part(a), part(b)]
}
