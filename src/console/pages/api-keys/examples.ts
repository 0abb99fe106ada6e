import { projectOf } from '../../../http/auth'
import { publicOrigin } from '../../../http/origin'
import type { Visit } from '../../page'

/** The environment variables that the examples read. */
const KEY = 'PLATFORM_API_KEY'
const PROJECT = 'PLATFORM_PROJECT_ID'

/** A call that every key may make, whatever its scopes: it describes the key itself. */
export const SELF = '/platform/v1/api-keys/self'

/** The lines of a `.env` file. The key's line is the only example that holds a secret. */
export function envFile(c: Visit, secret: string): string {
  return `${KEY}=${secret}\n${PROJECT}=${projectOf(c.get('actor'))}`
}

/** A first call with curl. It reads the key from the environment, so that no secret is in the shell's history. */
export function curlExample(c: Visit): string {
  return `set -a; . ./.env; set +a\n\ncurl ${urlOf(c)} \\\n  -H "Authorization: Bearer $${KEY}" \\\n  -H "X-Project-Id: $${PROJECT}"`
}

/** The same call in Node.js, without packages. */
export function nodeExample(c: Visit): string {
  return `// node --env-file=.env first-call.mjs
const response = await fetch('${urlOf(c)}', {
  headers: {
    Authorization: \`Bearer \${process.env.${KEY}}\`,
    'X-Project-Id': process.env.${PROJECT},
  },
})
console.log(response.status, await response.json())`
}

function urlOf(c: Visit): string {
  return (publicOrigin(c) ?? 'https://your-deployment.example') + SELF
}
