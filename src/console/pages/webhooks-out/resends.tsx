import type { ResendRow } from '../../../endpoints/deliveries'
import { ResendBody } from '../../../endpoints/delivery-fields'
import type { EndpointRow } from '../../../endpoints/endpoint'
import { LOG_DAYS, MAX_OPEN_RESENDS } from '../../../endpoints/limits'
import { KEPT_DAYS } from '../../../feed/limits'
import type { Ask } from '../../action'
import { form, number, tick } from '../../form'
import { can, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { endpointPath } from './parts'
import type { ShownEndpoint } from './read'

export const RESEND = form(ResendBody, {
  after: number('After change', {
    required: true,
    hint: 'The number of the change just before the first one to resend. Enter 0 to start from the beginning.',
  }),
  until: number('Up to change', { required: true, hint: 'The number of the last change to resend.' }),
  failed_only: tick('Only failed changes', {
    hint: 'Resends only the changes whose attempts have all failed. Otherwise, all changes in the range are sent.',
  }),
})

/** Asks which range to resend. */
export function askRange(c: Visit, row: EndpointRow, sent: Sent): Ask {
  const { head, id, url } = row
  const entered = sent.entered ?? RESEND.opened({ after: Math.max(0, head - 100), until: head, failed_only: true })
  return {
    title: 'Resend changes',
    section: 'webhooks-out',
    above: [url, endpointPath(c, id)],
    says: (
      <p>
        The changes in the range are sent to {url} again, including those that were delivered before. New changes are
        still sent at the same time. Each change keeps its <code>webhook-id</code>. The newest change is number{' '}
        {head.toLocaleString('en')}. Changes are kept for {KEPT_DAYS} days. At most {MAX_OPEN_RESENDS} resends can be
        open at once.
      </p>
    ),
    choice: (
      <>
        {RESEND.field('after', { ...sent, entered })}
        {RESEND.field('until', { ...sent, entered })}
        {RESEND.field('failed_only', { ...sent, entered })}
      </>
    ),
    verb: 'Resend',
  }
}

/** The ranges that were resent, with how far each has come. */
export function Resends({ c, of: { row, resends } }: { c: Visit; of: ShownEndpoint }) {
  const { now } = c.get('rt')
  const columns: Column<ResendRow>[] = [
    ['Requested', ({ created_at }) => <Time at={created_at} now={now} />],
    ['Changes', ({ after, until }) => (until === after + 1 ? until : `${after + 1} to ${until}`), 'number'],
    ['Which', ({ failed_only, types }) => [failed_only ? 'Only failed' : 'All', ...(types ?? [])].join(', ')],
    ['Progress', (one) => <Progress of={one} />],
    ['Done', ({ finished_at }) => <Time at={finished_at} now={now} none="" />],
  ]
  return (
    <>
      <h2 id="resends">Resends</h2>
      {resends.length === 0 ? (
        <p class="quiet">Nothing was resent in the last {LOG_DAYS} days.</p>
      ) : (
        <Table label="Resends" rows={resends} columns={columns} class="audit" />
      )}
      {can(c, 'webhooks:write') && (
        <p>
          <a class="button" href={`${endpointPath(c, row.id)}/resend`} data-dialog>
            Resend changes
          </a>
        </p>
      )}
    </>
  )
}

function Progress({ of: { after, until, position, finished_at } }: { of: ResendRow }) {
  const share = finished_at === null ? (position - after) / (until - after) : 1
  return <>{Math.floor(100 * share)} %</>
}
