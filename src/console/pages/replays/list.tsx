import type { Page } from '../../../http/page'
import { openOf, type ReplayRow } from '../../../inbox/replay/replays'
import { idTime } from '../../../lib/ids'
import { pathsOf, type Visit } from '../../page'
import { BothModes } from '../../ui/both-modes'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, live, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Bar, type Beside, By, Count, ReplayWhat } from './parts'

/** The project's replays, newest first. The list updates itself while one of them is not done. */
export function listPage(c: Visit, { data, next_cursor }: Page<ReplayRow>, beside: Beside) {
  const { search } = new URL(c.req.url)
  const open = data.some((row) => (openOf(row) ?? 0) > 0)
  return show(
    c,
    { title: 'Replays', section: 'replays' },
    <>
      <Head title="Replays" />
      <BothModes c={c}>Replays</BothModes>
      {data.length > 0 ? (
        <div id="replays" {...(open && live('replays', pathsOf(c).replays + search, '3s'))}>
          <Table label="Replays" rows={data} columns={columnsOf(c, beside)} />
          {open && <ReloadLink at={search || '?'} />}
        </div>
      ) : (
        <section class="empty">
          <h2>No replays yet</h2>
          <p>
            A replay processes recorded events again, for example after an error was fixed. Changes that were already
            applied are not applied twice. Start one from an event’s page, or for all events in a filtered list.
          </p>
          <a class="button" href={pathsOf(c).events}>
            Events
          </a>
        </section>
      )}
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

/** Without a script, a page does not update itself. */
export function ReloadLink({ at }: { at: string }) {
  return (
    <noscript>
      <p>
        <a href={at}>Reload the page</a> to see the progress.
      </p>
    </noscript>
  )
}

function columnsOf(c: Visit, { names, connections }: Beside): Column<ReplayRow>[] {
  const { replays } = pathsOf(c)
  return [
    [
      'Requested',
      (row) => (
        <a id={row.id} href={`${replays}/${row.id}`}>
          <Time at={idTime(row.id)} now={c.get('rt').now} />
        </a>
      ),
    ],
    ['By', (row) => <By row={row} names={names} />],
    ['Events', (row) => <ReplayWhat c={c} row={row} connections={connections} brief />],
    ['Progress', (row) => <Bar row={row} />],
    ['Processed', ({ processed }) => processed?.toLocaleString('en') ?? '–', 'number'],
    ['Ignored', ({ ignored }) => ignored?.toLocaleString('en') ?? '–', 'number spare'],
    ['Failed', (row) => <Count c={c} row={row} status="failed" />, 'number'],
  ]
}
