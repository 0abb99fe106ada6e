import type { PropsWithChildren } from 'hono/jsx'
import { LINES } from './words'

const COLUMNS = ['completed', 'failed', 'pending'] as const

/** Explains the columns and lines of the chart. */
export function Legend() {
  return (
    <ul class="legend">
      {COLUMNS.map((name) => (
        <li>
          <Sample>
            <rect class={name} width="12" x="7" height="10" />
          </Sample>
          {name}
        </li>
      ))}
      {LINES.map(([name, dashes]) => (
        <li>
          <Sample>
            <path class={`line ${name}`} stroke-dasharray={dashes} d="M1 5H25" />
          </Sample>
          {name}
        </li>
      ))}
      <li>Times are in UTC. The scale of the lag is logarithmic.</li>
    </ul>
  )
}

function Sample({ children }: PropsWithChildren) {
  return (
    <svg viewBox="0 0 26 10" aria-hidden="true">
      {children}
    </svg>
  )
}
