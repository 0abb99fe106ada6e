import type { Context } from 'hono'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import type { EndpointOf } from './work'

/** The endpoint of a path, in the caller's project. */
export function endpointOf(c: Context<HttpEnv>, id: string): EndpointOf {
  return { project_id: projectOf(c.get('actor')), endpoint_id: id }
}
