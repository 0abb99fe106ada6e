import type { PropsWithChildren } from 'hono/jsx'
import { LINES } from './words'

/** Explains the lines and columns of the chart. @param pending the largest number of pending events in a bucket */
export function Legend({ pending }: { pending: number }) {
  return (
    <ul class="legend">
      {LINES.map(([name, dashes]) => (
        <li>
          <Sample>
            <path class={name} stroke-dasharray={dashes} d="M1 5H25" />
          </Sample>
          {name}
        </li>
      ))}
      {pending > 0 && (
        <li>
          <Sample>
            <rect class="pending" width="26" height="10" />
          </Sample>
          pending, up to {pending}
        </li>
      )}
      <li>Times are in UTC. The scale is logarithmic: each grid line is about ten times the one below.</li>
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
