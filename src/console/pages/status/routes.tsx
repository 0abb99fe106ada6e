import { Hono } from 'hono'
import { MAX_CUSTOMERS_COUNTED } from '../../../consumers/limits'
import { countUnlinked } from '../../../consumers/links'
import type { Send } from '../../../db/client'
import { batchCounting } from '../../../db/total'
import type { Runtime } from '../../../env'
import { readFound } from '../../../health/health'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { keepStanding, type Standing } from '../../browser'
import { page, pathsOf } from '../../page'
import { userOf } from '../../session'
import { PipelineBadge, SectionCount } from '../../ui/frame/status'

/** The greatest number of unlinked customers that is shown: a longer one does not fit beside the link. */
const MOST_UNLINKED = 99

/** The status and the counts in the sidebar, which load after the page. The browser keeps them for the pages after it. */
export const statusPages = new Hono<HttpEnv>().get('/', page('billing:read'), async (c) => {
  const user = userOf(c)
  const standing = await readStanding(c.get('rt'), projectOf(user))
  keepStanding(c, user, standing)
  const { status: at, health } = pathsOf(c)
  return c.html(
    <>
      <PipelineBadge of={standing.status} at={at} health={health} late />
      <SectionCount section="events" of={standing} late />
      <SectionCount section="unlinked" of={standing} late />
    </>,
  )
})

/** Reads what the sidebar says about a project, in the trip of its health. */
async function readStanding(rt: Runtime, project: string): Promise<Standing> {
  let unlinked = '0'
  const ask: Send = async (queries) => {
    const [found, counted] = await batchCounting(rt.db, queries, countUnlinked(rt.db, project))
    if (counted) unlinked = unlinkedText(counted)
    return found
  }
  const { health, attention } = await readFound(rt, project, ask)
  return { status: health.status, failed: attention.told, unlinked }
}

/** `12`; with a plus where there may be more. */
function unlinkedText({ n, looked }: { n: number; looked: number }): string {
  if (n > MOST_UNLINKED) return `${MOST_UNLINKED}+`
  return n > 0 && looked === MAX_CUSTOMERS_COUNTED ? `${n}+` : String(n)
}
