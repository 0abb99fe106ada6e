import { indexIn } from './payload-search'
import type { Entry, Tree } from './payload-text'

/** Levels that are unfolded at first: as far as the object of an event, whose own fields are what most readers want. */
const UNFOLDED = 4

type TreeProps = {
  of: Tree
  /** A text that is marked. What it was found in is unfolded. */
  find?: string | undefined
}

/** JSON in colors, each object and list of which can be folded. It needs no script. */
export function JsonTree({ of, find }: TreeProps) {
  return (
    <div class="json">
      <Line entry={{ name: null, value: of }} level={1} comma={false} find={find} />
    </div>
  )
}

/** A text, with the first place marked in which another one is found. */
function Marked({ of, find }: { of: string; find: string | undefined }) {
  const at = find === undefined ? -1 : indexIn(find, of)
  if (find === undefined || at < 0) return <>{of}</>
  const end = at + find.length
  return (
    <>
      {of.slice(0, at)}
      <mark>{of.slice(at, end)}</mark>
      {of.slice(end)}
    </>
  )
}

type LineProps = { entry: Entry; level: number; comma: boolean; find: string | undefined }

function Line({ entry: { name, value }, level, comma, find }: LineProps) {
  const label = name && (
    <>
      <var>
        <Marked of={name} find={find} />
      </var>
      {': '}
    </>
  )
  const end = comma ? ',' : ''
  if ('leaf' in value) {
    const text = <Marked of={value.leaf} find={find} />
    return (
      <div>
        {label}
        {/^["…]/.test(value.leaf) ? <i>{text}</i> : <em>{text}</em>}
        {end}
      </div>
    )
  }
  const { open, entries } = value
  const close = (open === '{' ? '}' : ']') + end
  return (
    <details open={find !== undefined || level < UNFOLDED}>
      <summary data-folded={`…${close}`}>
        {label}
        {open}
      </summary>
      {entries.map((entry, n) => (
        <Line entry={entry} level={level + 1} comma={n < entries.length - 1} find={find} />
      ))}
      <div class="end">{close}</div>
    </details>
  )
}
