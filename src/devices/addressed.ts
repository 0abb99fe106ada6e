import type { Context } from 'hono'
import { refToChange } from '../consumers/ref'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'

/** The device that the path of a change names by its id. */
export function deviceIn(c: Context<HttpEnv>) {
  return {
    project_id: projectOf(c.get('actor')),
    ref: refToChange(c.req.param('consumer') ?? ''),
    id: c.req.param('device') ?? '',
  }
}
