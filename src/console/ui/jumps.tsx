/** A part of a page: the id of its heading, and what its link says. */
export type Part = readonly [id: string, label: string]

/** Links to the parts of a long page. */
export function Jumps({ to }: { to: readonly Part[] }) {
  return (
    <nav class="jumps" aria-label="On this page">
      {to.map(([id, label]) => (
        <a href={`#${id}`}>{label}</a>
      ))}
    </nav>
  )
}
