import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { BulkReplayBody } from '../../../inbox/replay/present'
import { requestBulkReplay } from '../../../inbox/replay/replay'
import { findReplay, replayNotFound } from '../../../inbox/replay/store'
import { idTime } from '../../../lib/ids'
import { page, parse } from '../../page'
import { projectPaths } from '../../paths'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, live, Post, Time } from '../../ui/parts'
import { readSearch } from '../events/search-form'

/** Replays of all that a search finds: how many that is, then how far it has come. */
export const replayPages = new Hono<HttpEnv>()
  .get('/replay', page('billing:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const { events } = projectPaths(project)
    const { query, fields } = readSearch(new URL(c.req.url).searchParams)
    if (fields === null) return c.redirect(`${events}?${query}`, 303)
    const asked = { filter: fields, ...parse(BulkReplayBody.pick({ limit: true, dry_run: true }), { dry_run: true }) }
    const { matched, has_more } = await requestBulkReplay(c.get('rt'), project, asked, changeOf(c))
    return show(
      c,
      { title: 'Replay events', section: 'events', above: ['Webhook events', `${events}?${query}`] },
      <section class="confirm">
        <h1>Replay {plural(matched, 'event')}?</h1>
        <p>
          {query.size === 0 ? 'Every event of the project is meant.' : 'Every event that the search finds is meant.'}{' '}
          Each is processed again, a hundred a second. Processing is idempotent: what is applied already is not applied
          twice. Events that are open already are left to the run that is coming.
        </p>
        {has_more && (
          <p class="warning">There are more: one replay takes {matched}. Replay again when this one is done.</p>
        )}
        {query.size > 0 && <pre class="code">{[...query].map(([name, value]) => `${name} = ${value}`).join('\n')}</pre>}
        <Post c={c} to={`${events}/replay`} class="choice">
          <input type="hidden" name="search" value={String(query)} />
          {matched > 0 && (
            <button type="submit" class="primary">
              Replay {plural(matched, 'event')}
            </button>
          )}
          <a class="button" href={`${events}?${query}`}>
            Cancel
          </a>
        </Post>
      </section>,
    )
  })
  .post('/replay', page('billing:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const { events } = projectPaths(project)
    const { query, fields } = readSearch(new URLSearchParams(c.get('form').get('search') ?? ''))
    if (fields === null) return c.redirect(`${events}?${query}`, 303)
    const asked = { filter: fields, ...parse(BulkReplayBody.pick({ limit: true, dry_run: true }), {}) }
    const { replay_id } = await requestBulkReplay(c.get('rt'), project, asked, changeOf(c))
    return c.redirect(replay_id ? `${events}/replays/${replay_id}` : `${events}?done=nothing_to_replay&${query}`, 303)
  })
  .get('/replays/:replay', page('billing:read'), async (c) => {
    const { db, now } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { events } = projectPaths(project)
    const id = c.req.param('replay') ?? ''
    const [replay] = await run(db, findReplay(db, project, id))
    if (!replay) throw replayNotFound()
    const { queued, open } = replay
    return show(
      c,
      { title: 'Replay', section: 'events', above: ['Webhook events', events] },
      <div id="replay" {...(open > 0 && live('replay', `${events}/replays/${id}`, '1s'))}>
        <Head title={open > 0 ? 'Replaying …' : 'Replay done'} />
        <p>
          <label for="progress">
            {(queued - open).toLocaleString('en')} of {plural(queued, 'event')} processed again
          </label>
        </p>
        <progress id="progress" max={queued} value={queued - open} />
        <p class="quiet">
          Asked for <Time at={idTime(replay.id)} now={now} />
        </p>
        <a class="button" href={events}>
          Back to the events
        </a>
      </div>,
    )
  })
