import type { Context } from 'hono'
import { inRoom, sendInRoom } from '../../http/answering'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { MAX_SMALL_BYTES } from '../../http/limits'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { type EventRow, sizeOf, type View } from './events'

/**
 * Answers with events, in room for their payloads. Most pages are small, and take one read. That read measures a larger
 * page, which is then read again in as much room as it needs.
 *
 * @param read reads the rows; the second time, the caller's credentials are confirmed
 */
export async function answerEvents<R extends Response>(
  c: Context<HttpEnv>,
  view: 'full' | 'summary',
  read: (view: View) => Promise<EventRow[]>,
  present: (rows: EventRow[]) => R,
): Promise<R> {
  if (view === 'summary') return present(await read('summary'))
  const small = await inRoom(c.get('rt'), projectOf(c.get('actor')), MAX_SMALL_BYTES, async () => {
    const rows = await read({ most: MAX_SMALL_BYTES })
    const bytes = sizeOf(rows)
    return bytes <= MAX_SMALL_BYTES ? present(rows) : bytes
  })
  if (typeof small !== 'number') return small
  // New events may have come meanwhile: there is room for one of them at least.
  const most = Math.max(small, MAX_DELIVERY_BYTES)
  return sendInRoom(c, most, async () => present(await read({ most })))
}
