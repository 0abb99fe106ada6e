import { Hono } from 'hono'
import { findObject } from '../../../billing/read/store'
import { batch, type Db, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { type AttemptRow, type EventRow, eventNotFound, findEvent, listAttempts } from '../../../inbox/events/store'
import { bytesOf } from '../../../inbox/payload'
import { previewReplay } from '../../../inbox/replay/preview'
import { requestReplay } from '../../../inbox/replay/replay'
import { Fault } from '../../../lib/fault'
import { idTime } from '../../../lib/ids'
import { vendorOf } from '../../../vendors'
import { can, page } from '../../page'
import { projectPaths } from '../../paths'
import { duration, money, words } from '../../ui/format'
import { show } from '../../ui/layout'
import { Badge, Fact, Head, live, Post, Table, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendors'
import { Effects } from './effects'
import { isOpen } from './list'
import { hexDump, indented } from './payload'
import { namesOf } from './store'

const ATTEMPTS = 50
/** What of a payload is shown on its page; the whole is a download. */
const TEXT_SHOWN = 16_000
const BYTES_SHOWN = 1024

/** One event: its summary, payload, attempts and effects, and its replay. */
export const onePages = new Hono<HttpEnv>()
  .get('/:event', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { events } = projectPaths(project)
    const id = c.req.param('event') ?? ''
    const found = await batch(db, {
      event: findEvent(db, project, 'full', id),
      attempts: listAttempts(db, project, id, { after: 0, limit: ATTEMPTS }),
    })
    const { attempts } = found
    const [row] = found.event
    if (!row) throw eventNotFound()
    const at = `${events}/${id}`
    const open = isOpen(row.status)
    const actors = attempts.flatMap(({ actor }) => actor ?? [])
    const summary = row.summary
    const [names, links] = await Promise.all([namesOf(db, project, actors), linksOf(db, row, summary)])
    return show(
      c,
      { title: row.event_type, section: 'events', above: ['Webhook events', events] },
      <div id="event" {...(open && live('event', at, '2s'))}>
        <Head
          title={
            <>
              {row.event_type} <Badge of={row.status} />
            </>
          }
        >
          {can(c, 'billing:write') && (
            <>
              <a class="button" href={`${at}/replay`}>
                Dry run
              </a>
              <Post c={c} to={`${at}/replay`}>
                <button type="submit">Replay</button>
              </Post>
            </>
          )}
        </Head>
        {row.last_error && <p class="error">{row.last_error}</p>}
        <Summary row={row} summary={summary} links={links} now={c.get('rt').now} />
        <Attempts rows={attempts} names={names} now={c.get('rt').now} />
        <Payload row={row} at={at} />
      </div>,
    )
  })
  .get('/:event/payload', page('billing:read'), async (c) => {
    const id = c.req.param('event') ?? ''
    const { db } = c.get('rt')
    const [row] = await run(db, findEvent(db, projectOf(c.get('actor')), 'full', id))
    if (!row || row.body === null) throw new Fault('not_found', 'The payload is not kept.')
    c.header('Content-Disposition', `attachment; filename="${row.id}.bin"`)
    return c.body(bytesOf(row.body), 200, { 'Content-Type': 'application/octet-stream' })
  })
  .get('/:event/replay', page('billing:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const at = `${projectPaths(project).events}/${c.req.param('event') ?? ''}`
    const preview = await previewReplay(c.get('rt').db, project, c.req.param('event') ?? '')
    if (!preview) throw eventNotFound()
    return show(
      c,
      { title: 'Dry run', section: 'events', above: ['The event', at] },
      <section class="confirm">
        <h1>A replay would end as {preview.status}</h1>
        <p>{preview.error ?? 'This is what it would do now. Nothing was written.'}</p>
        <Effects of={preview.effects} project={project} />
        <Post c={c} to={`${at}/replay`} class="choice">
          <button type="submit" class="primary">
            Replay
          </button>
          <a class="button" href={at}>
            Cancel
          </a>
        </Post>
      </section>,
    )
  })
  .post('/:event/replay', page('billing:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const id = c.req.param('event') ?? ''
    const replayed = await requestReplay(c.get('rt'), project, id, changeOf(c))
    if (!replayed) throw eventNotFound()
    const done = replayed.opened ? 'replayed' : 'replay_coming'
    return c.redirect(`${projectPaths(project).events}/${id}?done=${done}`, 303)
  })

type Decoded = EventRow['summary']

/** Where the billing state has what an event names: its customer's subscriptions, its subscription. */
async function linksOf(db: Db, row: EventRow, summary: Decoded): Promise<Record<string, string>> {
  const { customer, subscription } = summary ?? {}
  if (!vendorOf(row.vendor)?.snapshots) return {}
  const list = `${projectPaths(row.project_id).billing}/subscriptions`
  const links = { Customer: `${list}?customer=${encodeURIComponent(customer ?? '')}` }
  if (!subscription) return links
  const [found] = await run(db, findObject(db, row.project_id, 'subscription', subscription, row.vendor))
  return found ? { ...links, Subscription: `${list}/${encodeURIComponent(subscription)}?vendor=${row.vendor}` } : links
}

type SummaryProps = { row: EventRow; summary: Decoded; links: Record<string, string>; now: number }

function Summary({ row, summary, links, now }: SummaryProps) {
  const object = summary?.object
  const parts: [string, string | null | undefined][] = [
    ['Object', object && [object.type, object.id].filter(Boolean).join(' ')],
    ['Object’s status', object?.status],
    ['Amount', summary?.amount && money(summary.amount)],
    ['Customer', summary?.customer],
    ['Subscription', summary?.subscription],
    ['Invoice', summary?.invoice],
    ['Vendor', vendorTitle(row.vendor)],
    ['Mode', row.livemode ? 'Live' : 'Test'],
    ['Vendor’s API version', summary?.api_version],
    ['Vendor’s time', row.occurred_at && words(row.occurred_at)],
    ['Vendor’s event id', row.vendor_event_id],
    ['Id', row.id],
  ]
  return (
    <>
      <h2>Summary</h2>
      <dl class="facts">
        <Fact name="Received">
          <Time at={idTime(row.id)} now={now} />
        </Fact>
        <Fact name="First completed">
          <Time at={row.processed_at} now={now} none="Not yet" />
        </Fact>
        {row.next_attempt_at !== null && isOpen(row.status) && (
          <Fact name="Next attempt">
            <Time at={row.next_attempt_at} now={now} />
          </Fact>
        )}
        {parts.map(
          ([name, value]) =>
            value && <Fact name={name}>{links[name] ? <a href={links[name]}>{value}</a> : value}</Fact>,
        )}
        {row.deliveries > 1 && <Fact name="Delivered">{row.deliveries} times</Fact>}
      </dl>
      <h2>Effects</h2>
      <Effects of={summary?.effects ?? []} project={row.project_id} />
    </>
  )
}

type AttemptsProps = { rows: readonly AttemptRow[]; names: ReadonlyMap<string, string>; now: number }

function Attempts({ rows, names, now }: AttemptsProps) {
  return (
    <>
      <h2>Attempts</h2>
      {rows.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <Table
          label="Attempts"
          heads={['#', 'Trigger', 'By', 'Started', 'Took', 'Outcome', 'Error']}
          rows={rows.map((row) => [
            row.number,
            row.trigger,
            row.actor && (names.get(row.actor) ?? <code>{row.actor}</code>),
            <Time at={row.started_at} now={now} />,
            duration(row.finished_at - row.started_at),
            <Badge of={row.outcome} />,
            row.error && <span class="error">{row.error}</span>,
          ])}
        />
      )}
    </>
  )
}

function Payload({ row, at }: { row: EventRow; at: string }) {
  if (row.body === null) return <p class="quiet">The payload is past its retention and no longer kept.</p>
  const bytes = bytesOf(row.body)
  const json = typeof row.body === 'string' ? indented(row.body, TEXT_SHOWN) : null
  const text = json ?? (typeof row.body === 'string' ? row.body : 'These bytes are no UTF-8 text.')
  return (
    <>
      <h2>Payload</h2>
      <p>
        {bytes.length.toLocaleString('en')} bytes, as they came. <a href={`${at}/payload`}>Download</a>
      </p>
      <section class="code wrap" aria-label="Payload as JSON" tabindex={0}>
        <pre>{text.slice(0, TEXT_SHOWN)}</pre>
      </section>
      {text.length > TEXT_SHOWN && <p class="quiet">Only the first part is shown. Download it to see it all.</p>}
      <details>
        <summary>Raw bytes</summary>
        <section class="code" aria-label="Raw bytes" tabindex={0}>
          <pre>{hexDump(bytes.subarray(0, BYTES_SHOWN))}</pre>
        </section>
        {bytes.length > BYTES_SHOWN && <p class="quiet">The first {BYTES_SHOWN.toLocaleString('en')} bytes.</p>}
      </details>
    </>
  )
}
