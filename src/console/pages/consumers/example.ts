import type { Context } from 'hono'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { publicOrigin } from '../../../http/origin'

/** The call that creates a consumer, with curl. It reads the key from the environment. */
export function putExample(c: Context<HttpEnv>): string {
  const origin = publicOrigin(c) ?? 'https://your-deployment.example'
  return `curl -X PUT ${origin}/platform/v1/consumers/ext:user_4711 \\
  -H "Authorization: Bearer $PLATFORM_API_KEY" \\
  -H "X-Project-Id: ${projectOf(c.get('actor'))}" \\
  -H "Content-Type: application/json" \\
  -d '{"email":"ada@example.com","name":"Ada Lovelace"}'`
}
