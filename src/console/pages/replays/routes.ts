import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { eventNotFound } from '../../../inbox/events/store'
import { BulkReplayBody } from '../../../inbox/replay/present'
import { previewReplay } from '../../../inbox/replay/preview'
import { requestBulkReplay, requestReplay } from '../../../inbox/replay/replay'
import { findReplay, replayNotFound } from '../../../inbox/replay/store'
import { parse } from '../../form'
import { page, pathsOf } from '../../page'
import { readSearch } from '../events/search-query'
import { bulkPage } from './bulk'
import { dryRunPage } from './dry-run'
import { progressPage } from './progress'

const BulkOptions = BulkReplayBody.pick({ limit: true, cursor: true, dry_run: true })

/** Replays of one event, and of all events that a search finds. */
export const replayPages = new Hono<HttpEnv>()
  .get('/replay', page('billing:write'), async (c) => {
    const sent = new URL(c.req.url).searchParams
    const { query, fields } = readSearch(sent)
    if (fields === null) return toSearch(c, query)
    const cursor = cursorIn(sent)
    const asked = { filter: fields, ...parse(BulkOptions, { dry_run: true, ...cursor }) }
    const found = await requestBulkReplay(c.get('rt'), projectOf(c.get('actor')), asked, changeOf(c))
    return bulkPage(c, { query, ...cursor }, found)
  })
  .post('/replay', page('billing:write'), async (c) => {
    const { events } = pathsOf(c)
    const { query, fields } = readSearch(new URLSearchParams(c.get('form').get('search') ?? ''))
    if (fields === null) return toSearch(c, query)
    const asked = { filter: fields, ...parse(BulkOptions, cursorIn(c.get('form'))) }
    const replay = await requestBulkReplay(c.get('rt'), projectOf(c.get('actor')), asked, changeOf(c))
    if (replay.replay_id === null) return c.redirect(`${events}?done=nothing_to_replay&${query}`, 303)
    if (replay.next_cursor !== null) query.set('cursor', replay.next_cursor)
    return c.redirect(`${events}/replays/${replay.replay_id}${replay.has_more ? `?${query}` : ''}`, 303)
  })
  .get('/replays/:replay', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const [replay] = await run(db, findReplay(db, projectOf(c.get('actor')), c.req.param('replay') ?? ''))
    if (!replay) throw replayNotFound()
    const sent = new URL(c.req.url).searchParams
    const { cursor } = cursorIn(sent)
    const rest = readSearch(sent).query
    if (cursor !== undefined) rest.set('cursor', cursor)
    return progressPage(c, replay, cursor === undefined ? null : rest)
  })
  .get('/:event/replay', page('billing:write'), async (c) => {
    const id = c.req.param('event') ?? ''
    const preview = await previewReplay(c.get('rt').db, projectOf(c.get('actor')), id)
    if (!preview) throw eventNotFound()
    return dryRunPage(c, id, preview)
  })
  .post('/:event/replay', page('billing:write'), async (c) => {
    const id = c.req.param('event') ?? ''
    const replayed = await requestReplay(c.get('rt'), projectOf(c.get('actor')), id, changeOf(c))
    if (!replayed) throw eventNotFound()
    return c.redirect(`${pathsOf(c).events}/${id}?done=${replayed.opened ? 'replayed' : 'replay_coming'}`, 303)
  })

/** Where a replay of many events continues, from an address or a form. */
function cursorIn(sent: URLSearchParams): { cursor?: string } {
  const cursor = sent.get('cursor')
  return cursor ? { cursor } : {}
}

/** Sends an invalid search back to the search form, which shows the error. */
function toSearch(c: Context<HttpEnv>, query: URLSearchParams): Response {
  return c.redirect(`${pathsOf(c).events}?${query}`, 303)
}
