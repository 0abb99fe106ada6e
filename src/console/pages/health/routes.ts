import { Hono } from 'hono'
import { readFound } from '../../../health/health'
import { readLag } from '../../../health/lag'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { iso } from '../../../lib/time'
import { page } from '../../page'
import { askedRange, healthPage, RANGES } from './health'

/** The health of the pipeline, and its lag over time. */
export const healthPages = new Hono<HttpEnv>().get('/', page('billing:read'), async (c) => {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const range = askedRange(c.req.query('range'))
  const { ms, bucket } = RANGES[range]
  const [found, lag] = await Promise.all([
    readFound(rt, project),
    readLag(rt, project, { from: iso(rt.now - ms), bucket }),
  ])
  return healthPage({ c, ...found, lag, range })
})
