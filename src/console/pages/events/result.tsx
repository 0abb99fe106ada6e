import type { EventRow } from '../../../inbox/events/events'
import { isOpen } from './row'

const ENDED: Partial<Record<EventRow['status'], string>> = {
  ignored: 'The event was processed again, and ignored: it changes no billing state.',
  failed: 'The event was processed again, and failed.',
}

/** Says that a requested replay is on its way and, once it has ended, how it ended. @param after the attempts before it */
export function Result({ row, after, at }: { row: EventRow; after: number; at: string }) {
  if (isOpen(row.status)) {
    return (
      <p class="notice" role="status">
        The event will be processed again. This page says when that is done.{' '}
        <noscript>
          <a href={`${at}?replayed=${after}`}>Reload the page</a> to see the result.
        </noscript>
      </p>
    )
  }
  if (row.attempts <= after) return null
  const words = ENDED[row.status] ?? 'The event was processed again.'
  return (
    <p class={row.status === 'failed' ? 'warning' : 'notice'} role="status" data-say={words}>
      {words}
    </p>
  )
}
