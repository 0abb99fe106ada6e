import { Hono } from 'hono'
import { readHealth } from '../../../health/health'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { page, pathsOf } from '../../page'
import { FailedCount, PipelineBadge } from '../../ui/frame/status'

/** The status in the sidebar, which loads after the page. */
export const statusPages = new Hono<HttpEnv>().get('/', page('billing:read'), async (c) => {
  const { status, counts } = await readHealth(c.get('rt'), projectOf(c.get('actor')))
  const { status: at, health } = pathsOf(c)
  return c.html(
    <>
      <PipelineBadge of={status} at={at} health={health} />
      <FailedCount n={counts.failed} late />
    </>,
  )
})
