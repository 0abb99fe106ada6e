import type { Entry, Tree } from './payload-text'

/** Levels that are unfolded at first: as far as the object of an event, whose own fields are what most readers want. */
const UNFOLDED = 4

/** JSON in colors, each object and list of which can be folded. It needs no script. */
export function JsonTree({ of }: { of: Tree }) {
  return (
    <div class="json">
      <Line entry={{ name: null, value: of }} level={1} comma={false} />
    </div>
  )
}

function Line({ entry: { name, value }, level, comma }: { entry: Entry; level: number; comma: boolean }) {
  const label = name && (
    <>
      <var>{name}</var>
      {': '}
    </>
  )
  const end = comma ? ',' : ''
  if ('leaf' in value) {
    return (
      <div>
        {label}
        {value.leaf.startsWith('"') ? <i>{value.leaf}</i> : <em>{value.leaf}</em>}
        {end}
      </div>
    )
  }
  const { open, entries } = value
  const close = (open === '{' ? '}' : ']') + end
  return (
    <details open={level < UNFOLDED}>
      <summary data-folded={`…${close}`}>
        {label}
        {open}
      </summary>
      {entries.map((entry, n) => (
        <Line entry={entry} level={level + 1} comma={n < entries.length - 1} />
      ))}
      <div class="end">{close}</div>
    </details>
  )
}
