import type { Context } from 'hono'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { publicOrigin } from '../../../http/origin'

/** A curl command that makes a first call with an API key. */
export function curlOf(c: Context<HttpEnv>, secret: string): string {
  const url = `${publicOrigin(c) ?? '$PUBLIC_ORIGIN'}/platform/v1/projects`
  return `curl ${url} \\\n  -H "Authorization: Bearer ${secret}" \\\n  -H "X-Project-Id: ${projectOf(c.get('actor'))}"`
}
