import { isRunning, openOf, type ReplayRow } from '../../../inbox/replay/replays'
import { idTime } from '../../../lib/ids'
import { can, pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Fact, Head, live, Time } from '../../ui/parts'
import { ReloadLink } from './list'
import { type Beside, By, Count, eventsOf, ReplayWhat } from './parts'

/**
 * The progress of a replay. The page updates itself until the replay is done.
 *
 * @param rest the search and cursor of the events that a replay of many has left; null if it has left none
 */
export function progressPage(c: Visit, row: ReplayRow, rest: URLSearchParams | null, beside: Beside) {
  const { events, replays } = pathsOf(c)
  const { id, queued } = row
  const open = openOf(row) ?? 0
  const at = `${replays}/${id}${rest ? `?${rest}` : ''}`
  const words = `${(queued - open).toLocaleString('en')} of ${plural(queued, 'event')} processed again`
  return show(
    c,
    { title: 'Replay', section: 'replays', above: ['Replays', replays] },
    <div id="replay" {...(open > 0 && live('replay', at, '1s'))}>
      <Head title={open > 0 ? 'Replaying…' : 'Replay done'}>
        <a id="its-events" class="button" href={row.event_id === null ? eventsOf(c, row) : `${events}/${row.event_id}`}>
          {row.event_id === null ? 'View its events' : 'View the event'}
        </a>
        {rest && !isRunning(row, c.get('rt').now) && can(c, 'billing:write') && (
          <a id="next" class="button primary" href={`${events}/replay?${rest}`}>
            Replay the next events
          </a>
        )}
      </Head>
      <p>
        <label for="progress">{words}</label>
      </p>
      <progress id="progress" max={Math.max(1, queued)} value={queued === 0 ? 1 : queued - open} />
      {open > 0 ? <ReloadLink at={at} /> : <Done c={c} row={row} />}
      <dl class="tiles">
        <Fact name="Still pending">{row.processed === null ? '–' : open.toLocaleString('en')}</Fact>
        {(['processed', 'ignored', 'failed'] as const).map((status) => (
          <Fact name={TILES[status]}>
            <Count c={c} row={row} status={status} />
          </Fact>
        ))}
      </dl>
      <h2>Request</h2>
      <dl class="facts">
        <Fact name="Requested">
          <Time at={idTime(id)} now={c.get('rt').now} />
        </Fact>
        <Fact name="By">
          <By row={row} names={beside.names} />
        </Fact>
        <Fact name="Events">
          <ReplayWhat c={c} row={row} connections={beside.connections} />
        </Fact>
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
      </dl>
      {row.event_id === null && (
        <p class="quiet">An event that was replayed again later is listed under that later replay.</p>
      )}
    </div>,
  )
}

const TILES = { processed: 'Processed', ignored: 'Ignored', failed: 'Failed' }

/** How a replay has ended and, where events failed, what to do about them. */
function Done({ c, row }: { c: Visit; row: ReplayRow }) {
  const failed = row.failed ?? 0
  const isIgnored = row.processed === 0 && (row.ignored ?? 0) > 0
  if (failed === 0) {
    return (
      <p data-say="The replay is done. No event failed.">
        {row.failed === null ? 'The results of its events were not counted when it ran.' : 'No event failed.'}
        {isIgnored && ' All events were ignored: events of their types do not change billing state.'}
      </p>
    )
  }
  const words = `${plural(failed, 'event')} failed.`
  return (
    <p class="warning" data-say={`The replay is done. ${words}`}>
      {words} <a href={eventsOf(c, row, 'failed')}>See why</a>
      {can(c, 'billing:write') && row.event_id === null && (
        <>
          {', and once the cause is fixed, '}
          <a href={`${pathsOf(c).events}/replay?${new URLSearchParams({ replay_id: row.id, status: 'failed' })}`}>
            replay the failed events
          </a>
        </>
      )}
      .
    </p>
  )
}
