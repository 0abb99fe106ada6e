import type { Child } from 'hono/jsx'
import { isMissed } from '../../../health/assess'
import { isCut } from '../../../inbox/failures/failures'
import { muteOf } from '../../../inbox/failures/fields'
import { MAX_FAILURE_CAUSES, MAX_FAILURES } from '../../../inbox/failures/limits'
import { idTime } from '../../../lib/ids'
import { DAY, HOUR, iso } from '../../../lib/time'
import { can, pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { exact, plural, sentence } from '../../ui/format'
import { Time } from '../../ui/parts'
import { RefusedFor, totalOf } from '../../ui/refusals'
import { heldWords } from '../connections/describe'
import { adviceOnCause, causePath, causeQuery } from '../events/cause-parts'
import { placeOfFinding } from '../health/places'
import type { Connected, Overview, Progress } from './read'

/** Something that a person should look at. `bad`: it stops events, or soon will. `mute`: the path of the page that mutes it. */
type Item = { bad: boolean; what: Child; link: [label: string, href: string]; mute?: string | undefined }

/** A key is listed when it expires within this time (ms). */
const EXPIRES_WITHIN = 14 * DAY
/** The most connections, keys and causes of failures in the list. */
const SHOWN = 5

/** What is wrong in the project, the worst first, each with a link to where it can be fixed. */
export function attentionOf(c: Visit, of: Overview): Item[] {
  const items = [
    ...(can(c, 'billing:read') ? [...findings(c, of), ...failures(c, of)] : []),
    ...(can(c, 'connections:read') ? shortened(connections(c, of), 'connection', pathsOf(c).connections) : []),
    ...(can(c, 'api_keys:read') ? shortened(keys(c, of), 'API key', pathsOf(c).keys) : []),
  ]
  return items.sort((a, b) => Number(b.bad) - Number(a.bad))
}

type MutedNote = { what: string; link: [label: string, href: string] }

/** What the list leaves out because it is muted: failed events, and deliveries that were refused. */
export function mutedOf(c: Visit, { causes, mutes, connections }: Overview): MutedNote[] {
  const failed = causes.filter(muteOf(mutes))
  // One without a secret is listed for that, with all that it refused.
  const silenced = connections.filter((row) => row.status === 'disabled' || row.secrets.length > 0)
  const refused = silenced.flatMap((row) => Object.entries(splitRefused(row, mutes).muted))
  const said = (what: string, causes: number, n: number) =>
    `${plural(n, what)} with ${causes === 1 ? 'a muted cause' : `${causes} muted causes`} ${n === 1 ? 'is' : 'are'} not listed.`
  const events = failed.reduce((sum, { n }) => sum + n, 0)
  const deliveries = refused.reduce((sum, [, n]) => sum + n, 0)
  const { events: failures, connections: list } = pathsOf(c)
  const notes: MutedNote[] = []
  if (events > 0 && can(c, 'billing:read')) {
    const what = said('failed event', failed.length, events)
    notes.push({ what, link: ['See muted causes', `${failures}?status=failed`] })
  }
  if (deliveries > 0 && can(c, 'connections:read')) {
    notes.push({ what: said('refusal', refused.length, deliveries), link: ['See connections', list] })
  }
  return notes
}

type Refused = Record<string, number>

/** What a connection refused in the last hour for causes that are not muted, and for muted ones. */
function splitRefused({ id, last_60m }: Connected, mutes: Overview['mutes']): { told: Refused; muted: Refused } {
  const codes = mutes.filter((mute) => mute.kind === 'refused' && mute.connection_id === id).map(({ code }) => code)
  const of = (isMuted: boolean) =>
    Object.fromEntries(Object.entries(last_60m.refused).filter(([cause]) => codes.includes(cause) === isMuted))
  return { told: of(false), muted: of(true) }
}

/** The list, or a note that it is empty, and what is muted. */
export function Attention({ c, items, muted }: { c: Visit; items: readonly Item[]; muted: readonly MutedNote[] }) {
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <BothModes c={c}>Problems</BothModes>
      {items.length === 0 ? (
        <p class="well">Nothing needs attention.</p>
      ) : (
        <ul class="attention">
          {items.map(({ bad, what, link: [label, href], mute }) => (
            <li class={bad ? 'bad' : 'warn'}>
              <span>{what}</span>
              <div>
                <a href={href}>{label}</a>
                {mute && (
                  <a href={mute} data-dialog>
                    Mute…
                  </a>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {muted.map(({ what, link: [label, href] }) => (
        <p class="quiet">
          {what} <a href={href}>{label}</a>
        </p>
      ))}
    </section>
  )
}

/** What health finds, except what {@link connections} and {@link failures} say with more detail. */
function findings(c: Visit, { findings }: Progress): Item[] {
  return findings
    .filter(({ about }) => about !== 'failed' && about !== 'refusing' && about !== 'secret')
    .map((finding) => ({
      bad: finding.failing,
      what: sentence(finding.reason),
      link: placeOfFinding(c, finding) ?? ['See health', pathsOf(c).health],
    }))
}

function failures(c: Visit, { causes, mutes, counts }: Overview): Item[] {
  const { now } = c.get('rt')
  const { events } = pathsOf(c)
  const mutedAs = muteOf(mutes)
  const items = causes
    .filter((row) => !mutedAs(row))
    .map((row): Item => {
      const at = idTime(row.last)
      const last = <Time at={at} now={now} />
      const what = (
        <>
          {plural(row.n, 'event')} from {row.name}
          {!row.livemode && ' '}
          <TestBadge of={row.livemode} /> failed ({row.n === 1 ? 'received' : 'the latest received'} {last}).{' '}
          {adviceOnCause(row).what}
        </>
      )
      // By the time of receipt: an event that fails after all its retries is not bad.
      const mute = can(c, 'billing:write') ? `${causePath(c, row)}/mute` : undefined
      return { bad: at > now - HOUR, what, link: ['See events', `${events}?${causeQuery(row)}`], mute }
    })
  const all = `${counts.failed.toLocaleString('en')} events have failed. Only the newest ${MAX_FAILURES.toLocaleString('en')} are grouped by cause, and at most ${MAX_FAILURE_CAUSES} causes are listed.`
  const more: Item = { bad: false, what: all, link: ['See all', `${events}?status=failed`] }
  return [...shortened(items, 'cause', `${events}?status=failed`), ...(isCut(causes) ? [more] : [])]
}

function connections(c: Visit, { connections, counts, mutes }: Overview): Item[] {
  return connections.flatMap((row): Item[] => {
    const at = `${pathsOf(c).connections}/${row.id}`
    if (row.status !== 'disabled' && row.secrets.length === 0) {
      return [{ bad: isMissed(row), what: withoutSecret(row), link: ['Enter the secret', at] }]
    }
    const { told } = splitRefused(row, mutes)
    const n = totalOf(told)
    if (row.status === 'paused' && n === 0)
      return [{ bad: false, what: paused(row, counts.held), link: ['See the connection', at] }]
    if (n === 0) return []
    if (row.status === 'disabled') return [{ bad: false, what: disabled(row, n), link: ['See the connection', at] }]
    const [cause, ...others] = Object.keys(told)
    const mute = others.length === 0 && can(c, 'connections:write') ? `${at}/refusals/${cause}/mute` : undefined
    return [{ bad: row.last_60m.accepted === 0, what: refused(row, told), link: ['See why', `${at}#refused`], mute }]
  })
}

/** A connection without a signing secret. One that nobody has sent anything to is only waiting for it. */
function withoutSecret(row: Connected): string {
  const n = totalOf(row.last_60m.refused)
  if (!isMissed(row)) return `${row.name} is not set up yet: it is waiting for its signing secret.`
  const since = n > 0 ? `. In the last hour: ${n.toLocaleString('en')}` : ''
  return `${row.name} has no signing secret, so every delivery is refused${since}.`
}

function paused({ name, held }: Connected, counted: number): string {
  return `${name} is paused${held > 0 ? `. ${heldWords(held, counted)}` : '. It holds no events'}.`
}

function disabled({ name }: Connected, n: number): string {
  return `${deliveries(n)} from ${name} ${n === 1 ? 'was' : 'were'} refused in the last hour: the connection is disabled.`
}

function refused({ name, last_60m: { accepted } }: Connected, told: Refused): Child {
  const n = totalOf(told)
  const causes = Object.entries(told).sort(([, a], [, b]) => b - a)
  const all = n === 1 ? 'The only delivery' : `All ${deliveries(n)}`
  return (
    <>
      {accepted > 0 ? deliveries(n) : all} from {name} in the last hour {n === 1 ? 'was' : 'were'} refused:{' '}
      {causes.map(([cause, count], at) => (
        <>
          {at > 0 && ', '}
          <RefusedFor cause={cause} />
          {causes.length > 1 && ` (${count.toLocaleString('en')})`}
        </>
      ))}
      .
    </>
  )
}

const deliveries = (n: number) => (n === 1 ? '1 delivery' : `${n.toLocaleString('en')} deliveries`)

function keys(c: Visit, { keys }: Progress): Item[] {
  const { now } = c.get('rt')
  return expiring(keys, now).map(({ id, name, expires_at }) => ({
    bad: expires_at <= now,
    what: (
      <>
        The API key {name} {expires_at <= now ? 'expired' : 'expires'} <InDays at={expires_at} now={now} />.
      </>
    ),
    link: ['See the API key', `${pathsOf(c).keys}/${id}`],
  }))
}

/** A time that is days away, in words that can end a sentence. */
function InDays({ at, now }: { at: number; now: number }) {
  const days = Math.round((at - now) / DAY)
  return days > 0 ? (
    <time datetime={iso(at)} title={exact(at)} data-ahead="">{`in ${plural(days, 'day')}`}</time>
  ) : (
    <Time at={at} now={now} />
  )
}

/** The keys that have expired or soon will, earliest first. */
function expiring(keys: Progress['keys'], now: number) {
  return keys
    .flatMap(({ id, name, expires_at }) => (expires_at === null ? [] : [{ id, name, expires_at }]))
    .filter(({ expires_at }) => expires_at <= now + EXPIRES_WITHIN)
    .sort((a, b) => a.expires_at - b.expires_at)
}

/** The first of the items, and how many more there are. */
function shortened(items: Item[], one: string, href: string): Item[] {
  const more = items.length - SHOWN
  if (more <= 0) return items
  const rest = items.slice(SHOWN)
  const last: Item = {
    bad: rest.some(({ bad }) => bad),
    what: `${plural(more, `more ${one}`)}.`,
    link: ['See all', href],
  }
  return [...items.slice(0, SHOWN), last]
}
