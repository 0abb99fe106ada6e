import type { Effect } from '../../../billing/effect'
import { batch, type Reader } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import { withArchive } from '../../../inbox/archive/find'
import { type EventRow, findEvent, findKept } from '../../../inbox/events/events'
import { type Preview, previewReplay } from '../../../inbox/replay/preview'
import { requestReplay } from '../../../inbox/replay/replay'
import { notFound, requireFound } from '../../../lib/fault'
import { idTime } from '../../../lib/ids'
import { eventAdvice } from '../../../vendors/event-errors'
import { action } from '../../action'
import { pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { Cannot } from '../../ui/cannot'
import { Effects } from '../../ui/effects'
import { show } from '../../ui/layout'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { isOpenEvent } from '../events/row'
import { effectsOf } from '../events/store'

/** Asks before an event is replayed, and shows what the replay would do. */
export const replayOne = action({
  at: '/:event/replay',
  needs: 'billing:write',
  read: async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const id = c.req.param('event') ?? ''
    const reads = async (reader: Reader) => {
      const { event, kept } = await batch(db, {
        event: findEvent(reader, project, 'summary', id),
        kept: findKept(reader, project, id),
      })
      return event.map((row, i) => ({ row, kept: kept[i] }))
    }
    const [preview, found] = await Promise.all([
      previewReplay(c.get('rt'), project, id),
      withArchive(db, project, id, reads),
    ])
    const { row, kept } = requireFound(found, 'Event')
    if (!preview) throw notFound('Event')
    const effects = await effectsOf(db, project, row.vendor, preview.effects)
    return { row, preview: { ...preview, effects }, kept: (kept?.bytes ?? null) !== null }
  },
  ask: (c, { row, preview, kept }) => {
    const at = `${pathsOf(c).events}/${row.id}`
    const view = { title: 'Replay event', section: 'events', above: ['Event', at] } as const
    const waiting = isOpenEvent(row.status) && row.status !== 'retrying'
    const why = row.connection_status === 'paused' ? 'paused' : waiting ? 'waiting' : kept ? null : 'gone'
    if (why) return show(c, view, <NotNow why={why} at={at} />)
    return {
      ...view,
      question: row.status === 'retrying' ? 'Retry this event now?' : 'Replay this event?',
      says: (
        <>
          <p>
            <strong>{row.event_type}</strong>, received <Time at={idTime(row.id)} now={c.get('rt').now} />
          </p>
          <Outlook row={row} preview={preview} project={projectOf(c.get('actor'))} />
        </>
      ),
      verb: row.status === 'retrying' ? 'Retry event' : 'Replay event',
    }
  },
  run: async (c) => {
    const id = c.req.param('event') ?? ''
    const replayed = await requestReplay(c.get('rt'), projectOf(c.get('actor')), id, changeOf(c))
    if (!replayed) throw notFound('Event')
    return replayed.event
  },
  done: (c, { status, attempts }) => {
    // An attempt that is running has already been counted: the page waits for its result.
    const before = status === 'processing' ? attempts - 1 : attempts
    return [`${pathsOf(c).events}/${c.req.param('event')}?replayed=${before}`]
  },
})

type OutlookProps = {
  row: EventRow
  preview: Omit<Preview, 'effects'> & { effects: readonly Effect[] }
  project: string
}

/** What a replay would do. Where it would fail, or the last attempt did, the cause comes first. */
function Outlook({ row: { vendor, last_error }, preview, project }: OutlookProps) {
  if (preview.error !== null) {
    const { what, todo } = eventAdvice(preview.error.code, vendorTitle(vendor))
    return (
      <>
        <p class="warning">It would fail: {preview.error.message}</p>
        <p>
          {what} {todo}
        </p>
      </>
    )
  }
  const changes = preview.effects.filter(({ change }) => change)
  return (
    <>
      {last_error !== null && <p>The last attempt failed: {last_error}</p>}
      <p>
        If it is processed now, its status becomes <Badge of={preview.status} />. Changes that were already applied are
        not applied twice.
      </p>
      {changes.length > 0 ? (
        <>
          <p>It would make these changes:</p>
          <Effects of={changes} project={project} vendor={vendor} />
        </>
      ) : (
        <p>It would not change the billing state.</p>
      )}
    </>
  )
}

const NOT_NOW = {
  paused: [
    'The connection is paused',
    'No event of a paused connection is processed or replayed. Resume the connection first.',
  ],
  waiting: [
    'The event is already being processed',
    'This event is waiting to be processed, or is being processed now. Replay it when that has ended.',
  ],
  gone: [
    'The payload was deleted',
    'This event cannot be processed again. Its payload was deleted: its retention period ended, or its consumer was erased.',
  ],
} as const

function NotNow({ why, at }: { why: keyof typeof NOT_NOW; at: string }) {
  const [title, says] = NOT_NOW[why]
  return (
    <Cannot title={title} back={['Back to the event', at]}>
      <p>{says}</p>
    </Cannot>
  )
}
