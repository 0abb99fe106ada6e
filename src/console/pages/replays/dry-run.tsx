import type { Context } from 'hono'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { EventRow } from '../../../inbox/events/events'
import type { Preview } from '../../../inbox/replay/preview'
import { idTime } from '../../../lib/ids'
import { eventAdvice } from '../../../vendors/event-errors'
import { pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { Confirm } from '../../ui/confirm'
import { Effects } from '../../ui/effects'
import { show } from '../../ui/layout'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { isOpen } from '../events/row'

/** Asks before an event is replayed, and shows what the replay would do. With JavaScript it opens in a dialog. */
export function dryRunPage(c: Context<HttpEnv>, row: EventRow, preview: Preview & { kept: boolean }) {
  const at = `${pathsOf(c).events}/${row.id}`
  const waiting = isOpen(row.status) && row.status !== 'retrying'
  return show(
    c,
    { title: 'Replay event', section: 'events', above: ['Event', at] },
    waiting || !preview.kept ? (
      <NotNow waiting={waiting} at={at} />
    ) : (
      <Confirm
        c={c}
        title={row.status === 'retrying' ? 'Retry this event now?' : 'Replay this event?'}
        to={`${at}/replay`}
        verb={row.status === 'retrying' ? 'Retry event' : 'Replay event'}
        back={at}
      >
        <p>
          <strong>{row.event_type}</strong>, received <Time at={idTime(row.id)} now={c.get('rt').now} />
        </p>
        <Outlook row={row} preview={preview} project={projectOf(c.get('actor'))} />
      </Confirm>
    ),
  )
}

type OutlookProps = { row: EventRow; preview: Preview; project: string }

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

function NotNow({ waiting, at }: { waiting: boolean; at: string }) {
  return (
    <section id="confirm" class="confirm">
      <h1>{waiting ? 'The event is already being processed' : 'The payload was deleted'}</h1>
      <p>
        {waiting
          ? 'This event is waiting to be processed, or is being processed now. Replay it when that has ended.'
          : 'This event cannot be processed again. Its payload was deleted: its retention period ended, or its consumer was erased.'}
      </p>
      <div class="choice">
        <a class="button" href={at} data-close>
          Back to the event
        </a>
      </div>
    </section>
  )
}
