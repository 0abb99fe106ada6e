import type { Context } from 'hono'
import { inRoom, sendInRoom, sendPartsInRoom } from '../../http/answering'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { MAX_SMALL_BYTES } from '../../http/limits'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { type EventRow, sizeOf, type View } from './events'
import { presentEvent } from './present'

type Shown = ReturnType<typeof presentEvent>
type Read = (view: View) => Promise<EventRow[]>

/**
 * Answers with a page of events, in room for their payloads. Most pages are small, and take one read. That read measures a larger
 * page, which is then read again in as much room as it needs, and whose events are presented one by one as they are sent: packed,
 * they take much less.
 *
 * @param read reads the rows; the second time, the caller's credentials are confirmed
 * @param pageOf the page with these events, which may be fewer than the rows
 */
export async function answerPage<P extends { data: EventRow[] }, R extends Response>(
  c: Context<HttpEnv>,
  { view, read, pageOf }: { view: 'full' | 'summary'; read: Read; pageOf: (rows: EventRow[]) => P },
  send: (page: Omit<P, 'data'> & { data: Shown[] }) => R,
): Promise<R> {
  const whole = (rows: EventRow[]) => {
    const page = pageOf(rows)
    return send({ ...page, data: page.data.map(presentEvent) })
  }
  if (view === 'summary') return whole(await read('summary'))
  const small = await smallOf(c, read, whole)
  if (typeof small !== 'number') return small
  return sendPartsInRoom(c, small, async () => {
    const page = pageOf(await read({ most: small }))
    const made = send({ ...page, data: [] })
    return { made, parts: partsOf(await made.text(), page.data) }
  })
}

/** Answers with an event in the same way, but as a whole. */
export async function answerEvent<R extends Response>(
  c: Context<HttpEnv>,
  read: Read,
  send: (row: EventRow | undefined) => R,
): Promise<R> {
  const small = await smallOf(c, read, ([row]) => send(row))
  if (typeof small !== 'number') return small
  return sendInRoom(c, small, async () => send((await read({ most: small }))[0]))
}

/** The answer, if its payloads are small; else how many bytes to read. New events may come meanwhile: one of them fits at least. */
function smallOf<R>(c: Context<HttpEnv>, read: Read, made: (rows: EventRow[]) => R): Promise<R | number> {
  return inRoom(c.get('rt'), projectOf(c.get('actor')), MAX_SMALL_BYTES, async () => {
    const rows = await read({ most: MAX_SMALL_BYTES })
    const bytes = sizeOf(rows)
    return bytes <= MAX_SMALL_BYTES ? made(rows) : Math.max(bytes, MAX_DELIVERY_BYTES)
  })
}

const NO_EVENTS = '{"data":['

/** The text of a page, event by event. @param empty the text of the same page without events */
function* partsOf(empty: string, rows: readonly EventRow[]): Generator<string> {
  if (!empty.startsWith(NO_EVENTS)) throw new Error('a page does not begin with its events')
  yield NO_EVENTS
  for (const [i, row] of rows.entries()) yield (i === 0 ? '' : ',') + JSON.stringify(presentEvent(row))
  yield empty.slice(NO_EVENTS.length)
}
