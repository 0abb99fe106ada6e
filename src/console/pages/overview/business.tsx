import type { Child } from 'hono/jsx'
import { dayText } from '../../../billing/days/count'
import { WALK_HOURS } from '../../../inbox/renewals/limits'
import { chosenLivemode } from '../../mode'
import { pathsOf, type Visit } from '../../page'
import { modeWord } from '../../ui/format'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { type Figure, FLOWS, type Flow, figuresOf, LEVELS, type Level, SHOWN_DAYS, type Shown } from './figures'
import type { Overview } from './read'
import { FlowBars, LevelLine } from './spark'

const LEVEL_NAMES: Record<Level, string> = {
  active: 'Active',
  trialing: 'Trialing',
  past_due: 'Past due',
  unlinked: 'Without a consumer',
}
/** Most numbers link to subscriptions. That of those without a consumer links to customers, so it says what it counts. */
const TILE_NAMES = { ...LEVEL_NAMES, unlinked: 'Subscriptions without a consumer' }
const FLOW_NAMES: Record<Flow, string> = { created: 'New', lost: 'Lost', failed: 'Became past due' }

/** How the business is: subscriptions in each status, and what happened to them. Nothing if the project has none. */
export function Business({ c, of }: { c: Visit; of: Pick<Overview, 'days' | 'uncounted' | 'connections'> }) {
  const [first, ...rest] = of.days
  if (!first) return of.uncounted ? <Uncounted c={c} /> : null
  const { now } = c.get('rt')
  const figures = figuresOf([first, ...rest])
  const { window, last, shown, level, flow } = figures
  const list = `${pathsOf(c).billing}/subscriptions?livemode=${last.livemode === 1}`
  const levels = LEVELS.flatMap((name) => {
    const figure = level(name)
    return figure === null ? [] : [[name, figure] as const]
  })
  const span = window === 0 ? 'so far today' : window === 1 ? '1 day' : `${window} days`
  return (
    <>
      <div class="head section">
        <h2>Subscriptions{inMode(c, of, last.livemode === 1)}</h2>
        <a href={list}>All subscriptions</a>
      </div>
      <p class="quiet">
        Counted <Time at={last.counted_at} now={now} />. Days are in UTC.{unknown(figures, first.day)}
        {flow('failed').value > 0 &&
          ' “Became past due” also counts those that have been paid since. Its list has those that are still past due.'}
      </p>
      <dl class="tiles sparks">
        {levels.map(([name, figure]) => (
          <Tile
            name={TILE_NAMES[name]}
            href={name === 'unlinked' ? pathsOf(c).unlinked : `${list}&status=${name}`}
            of={figure}
            than={(days) => `${days} days ago`}
          >
            <LevelLine values={shown.map(({ row }) => row?.[name] ?? null)} />
          </Tile>
        ))}
        {FLOWS.map((name) => (
          <Tile
            name={`${FLOW_NAMES[name]}, ${span}`}
            href={linkOf(list, name, last.day - window)}
            of={flow(name)}
            than={(days) => `in the ${days} days before`}
          >
            {/* Lists have no filter by when a subscription ended or became past due. */}
            <FlowBars shown={shown} name={name} linkOf={name === 'created' ? (day) => linkOf(list, name, day) : null} />
          </Tile>
        ))}
      </dl>
      <ByDay shown={shown} list={list} />
    </>
  )
}

/** What follows a heading whose numbers are of one mode: nothing where live mode is all that there is. */
export function inMode(c: Visit, { connections }: Pick<Overview, 'connections'>, livemode: boolean): string {
  if (!livemode) return ' in test mode'
  return chosenLivemode(c) || connections.some((row) => !row.livemode) ? ' in live mode' : ''
}

/** Large projects wait for the cron's first walk over their subscriptions. The mode that was chosen may have none. */
function Uncounted({ c }: { c: Visit }) {
  const livemode = chosenLivemode(c)
  const mode = livemode === undefined ? '' : livemode ? ' in live mode' : ' in test mode'
  return (
    <>
      <div class="head section">
        <h2>Subscriptions{mode}</h2>
        <a href={`${pathsOf(c).billing}/subscriptions`}>All subscriptions</a>
      </div>
      <p class="quiet">
        Subscriptions are counted every {WALK_HOURS} hours.{' '}
        {livemode === undefined
          ? 'The first count is still to come.'
          : `No ${modeWord(livemode).toLowerCase()} subscriptions counted yet.`}
      </p>
    </>
  )
}

/** Says which numbers of 30 days before nobody knows. Nothing if all are known. @param first the first day of those that are read */
function unknown({ level, flow, last }: ReturnType<typeof figuresOf>, first: number): string {
  const figures = [...LEVELS.map(level), ...FLOWS.map(flow)].filter((figure) => figure !== null)
  const days = figures.map(({ change }) => change?.days ?? null)
  if (days.every((n) => n === SHOWN_DAYS)) return ''
  const began = first > last.day - 2 * SHOWN_DAYS ? ` Counts began on ${dayText(first)}.` : ''
  return days.every((n) => n === null)
    ? `${began} There is nothing to compare with yet.`
    : `${began} Not every number can be compared with that of ${SHOWN_DAYS} days before.`
}

type TileProps = { name: string; href: string; of: Figure; than: (days: number) => string; children: Child }

function Tile({ name, href, of: { value, change }, than, children }: TileProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <a href={href}>{value.toLocaleString('en')}</a>
        {change && (
          <small>
            {moreOrFewer(change.by)} {than(change.days)}
          </small>
        )}
        {children}
      </dd>
    </div>
  )
}

/** The same as a table, with a link for each day. */
function ByDay({ shown, list }: { shown: readonly Shown[]; list: string }) {
  const known = shown.filter(({ row }) => row !== null).reverse()
  const column = (name: Level | Flow, head: string): Column<Shown> => [
    head,
    ({ row }) => row?.[name]?.toLocaleString('en'),
    'number',
  ]
  return (
    <details>
      <summary>Show by day</summary>
      <p class="quiet">
        <b>Without a consumer</b>: active, trialing or past due, and the customer is not linked to a consumer.{' '}
        <b>New</b>: created on that day, unless the first payment is still missing. <b>Lost</b>: ended on that day.{' '}
        <b>Became past due</b>: for the latest time on that day, also if they have been paid since. Each day links to
        the subscriptions that changed since then.
      </p>
      <Table
        label="Subscriptions by day"
        rows={known}
        columns={[
          [
            'Day (UTC)',
            ({ day, open }) => (
              <>
                <a href={`${list}&updated_after=${startOf(day)}`}>{dayText(day)}</a>
                {open && ' (so far)'}
              </>
            ),
          ],
          ...LEVELS.map((name) => column(name, LEVEL_NAMES[name])),
          ...FLOWS.map((name) => column(name, FLOW_NAMES[name])),
        ]}
      />
    </details>
  )
}

/** Where a number of what happened since a day leads. */
const LINKS: Record<Flow, string> = {
  created: 'created_after=',
  lost: 'status=canceled&updated_after=',
  failed: 'status=past_due&updated_after=',
}
const startOf = (day: number) => `${dayText(day)}T00:00:00Z`
const linkOf = (list: string, name: Flow, day: number) => `${list}&${LINKS[name]}${startOf(day)}`
const moreOrFewer = (n: number) =>
  n === 0 ? 'As many as' : `${Math.abs(n).toLocaleString('en')} ${n > 0 ? 'more' : 'fewer'} than`
