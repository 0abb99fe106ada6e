import { Hono } from 'hono'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { listConnectionNames } from '../../../inbox/connections/connection'
import { readEvents } from '../../../inbox/events/events'
import { BulkReplayBody } from '../../../inbox/replay/present'
import { requestBulkReplay } from '../../../inbox/replay/replay'
import { findReplay, listReplays, type ReplayRow } from '../../../inbox/replay/replays'
import { requireFound } from '../../../lib/fault'
import { leadTo } from '../../action'
import { asLeft } from '../../lead'
import { readList } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { parse } from '../../refusal'
import { filtersInWords } from '../events/filter-words'
import { readSearch } from '../events/search-query'
import { namesOf } from '../events/store'
import { bulkPage } from './bulk'
import { replayOne } from './dry-run'
import { listPage } from './list'
import type { Beside } from './parts'
import { progressPage } from './progress'

const BulkOptions = BulkReplayBody.pick({ limit: true, cursor: true, dry_run: true })

/** Replays of one event, and of all events that a search finds. */
export const replayPages = new Hono<HttpEnv>()
  .get('/replay', page('billing:write', { costly: true }), async (c) => {
    const sent = new URL(c.req.url).searchParams
    const { query, fields } = readSearch(sent, c.get('rt').now)
    if (fields === null) return toSearch(c, query)
    if (sent.has('id') && !query.has('id')) return leadTo(c, asLeft(c, pathsOf(c).events), 'no_event_chosen')
    const cursor = cursorIn(sent)
    const asked = { filter: fields, ...parse(BulkOptions, { dry_run: true, ...cursor }) }
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const found = await requestBulkReplay(c.get('rt'), project, asked, changeOf(c))
    const { connections, chosen } = await batch(db, {
      connections: listConnectionNames(db, project),
      chosen: readEvents(db, project, 'summary', { ids: query.getAll('id'), order: 'desc' }),
    })
    return bulkPage(c, { query, ...cursor, filters: filtersInWords(fields, connections), chosen }, found)
  })
  .post('/replay', page('billing:write', { costly: true }), async (c) => {
    const { events } = pathsOf(c)
    const { query, fields } = readSearch(new URLSearchParams(c.get('form').get('search') ?? ''), c.get('rt').now)
    if (fields === null) return toSearch(c, query)
    const asked = { filter: fields, ...parse(BulkOptions, cursorIn(c.get('form'))) }
    const replay = await requestBulkReplay(c.get('rt'), projectOf(c.get('actor')), asked, changeOf(c))
    if (replay.replay_id === null) return c.redirect(`${events}?done=nothing_to_replay&${query}`, 303)
    if (replay.next_cursor !== null) query.set('cursor', replay.next_cursor)
    return c.redirect(`${pathsOf(c).replays}/${replay.replay_id}${replay.has_more ? `?${query}` : ''}`, 303)
  })
  .get('/replays', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const read = (before: string | null, take: number) =>
      run(db, listReplays(db, projectOf(c.get('actor')), { before, take }))
    const replays = await readList(c, 'replays', read)
    return listPage(c, replays, await beside(c, replays.data))
  })
  .get('/replays/:replay', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const replay = requireFound(
      await run(db, findReplay(db, projectOf(c.get('actor')), c.req.param('replay') ?? '')),
      'Replay',
    )
    const sent = new URL(c.req.url).searchParams
    const { cursor } = cursorIn(sent)
    const rest = readSearch(sent, c.get('rt').now).query
    if (cursor !== undefined) rest.set('cursor', cursor)
    return progressPage(c, replay, cursor === undefined ? null : rest, await beside(c, [replay]))
  })
  .route('/', replayOne)

/** Reads what else is needed to show replays, in one round trip to each database. */
async function beside(c: Visit, rows: readonly ReplayRow[]): Promise<Beside> {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const actors = [...new Set(rows.map(({ actor }) => actor))]
  const [names, connections] = await Promise.all([
    namesOf(rt, project, actors),
    run(rt.db, listConnectionNames(rt.db, project)),
  ])
  return { names, connections }
}

/** Where a replay of many events continues, from an address or a form. */
function cursorIn(sent: URLSearchParams): { cursor?: string } {
  const cursor = sent.get('cursor')
  return cursor ? { cursor } : {}
}

/** Sends an invalid search back to the search form, which shows the error. */
function toSearch(c: Visit, query: URLSearchParams): Response {
  return c.redirect(`${pathsOf(c).events}?${query}`, 303)
}
