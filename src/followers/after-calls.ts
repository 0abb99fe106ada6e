import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from '../http/context'
import { storeOfProject } from '../lib/ids'
import { wake } from './wake'

/** Wakes the followers of a project after a call or a form that may have changed it. The answer does not wait for that. */
export const wakeAfterCalls: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next()
  if (c.req.method === 'GET' || c.req.method === 'HEAD' || c.res.status >= 400) return
  const project = c.get('actor')?.project_id
  if (!project || c.get('rt').cost().rows_written === 0) return
  const rt = c.get('rt').at(storeOfProject(project) ?? 0)
  // A moment later, so that it is no part of what the call has cost.
  if (rt) rt.waitUntil(scheduler.wait(1).then(() => wake(rt, [project])))
}
