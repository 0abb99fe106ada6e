import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../scripts/lib/api.ts'
import { command } from '../../scripts/lib/command.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { callsOf } from './every-call.ts'

/** They end the session, the project or the user that makes the calls. */
const LAST = ['endSession', 'deleteProject', 'eraseUser', 'endAllSessions']
/** It is called with another session, which it ends. */
const ENDS_OWN = 'endCurrentSession'
/** These may answer 401: each checks a code, a passkey, a token or a signature of its own. For all other calls, 401 means that no session was sent. */
const REFUSE_OWN = [
  'createSession',
  'confirmSession',
  'createSessionWithPasskey',
  'provePasskey',
  'useRecoveryCode',
  'getMetrics',
  'reportExposuresOfGitHub',
]
/** A route may refuse a call, because the object is missing or the body says too little. Anything else is a call that went wrong. */
const PROGRAM = `
const [answered, refused, wrong] = [[], [], []]
for (const [id, call] of calls) {
  try {
    await call()
    answered.push(id)
  } catch (error) {
    const { status, detail, code } = error
    const isAnswer = error instanceof PlatformError && status >= 400 && status < 500 && status !== 405 && (status !== 401 || mayBe401.includes(id))
    if (isAnswer && !detail?.startsWith('Path not found')) refused.push(id)
    else wrong.push(id + ': ' + status + ' ' + code + ' ' + (detail ?? error.message))
  }
}
console.log(JSON.stringify({ answered, refused, wrong }))
`

/**
 * Makes every call of the API through the installed client, with no more than what each requires, as the owner of a new project. Most ids
 * belong to nothing, so most calls are refused, but each by its own route.
 *
 * @param folder where the client is installed
 * @throws if a call finds no route, fails, or is not understood by the client
 */
export async function tryEveryCall(url: string, folder: string): Promise<string> {
  const { token } = await signIn(url, 'every-call@example.com')
  const other = await signIn(url, 'every-call@example.com')
  const { id: projectId } = await must<{ id: string }>(`${url}/platform/v1/projects`, {
    token,
    json: { name: 'Every call' },
  })
  const calls = callsOf(await (await fetch(`${url}/openapi.json`)).text())
  const order = ({ id }: { id: string }) => LAST.indexOf(id)
  const made = calls
    .toSorted((a, b) => order(a) - order(b))
    .map(({ id, byPath, byName }) => {
      const call = byName ?? `unwrap(${byPath})`
      return `['${id}', () => ${id === ENDS_OWN ? call.replace('api.', 'other.') : call}],`
    })
  const options = { baseUrl: url, token, projectId, retry: false }
  const start = `import { createClient, PlatformError, unwrap } from 'platform-api-client'
const api = createClient(${JSON.stringify(options)})
const other = createClient(${JSON.stringify({ ...options, token: other.token })})
const mayBe401 = ${JSON.stringify(REFUSE_OWN)}`
  writeFileSync(join(folder, 'make-every-call.mjs'), `${start}\nconst calls = [\n${made.join('\n')}\n]\n${PROGRAM}`)
  const said = await command(process.execPath, ['make-every-call.mjs'], { cwd: folder })
  const { answered, refused, wrong } = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as Record<string, string[]>
  if (!answered || !refused || !wrong || wrong.length > 0)
    throw new Error(`calls that went wrong:\n${wrong?.join('\n')}`)
  if (answered.length + refused.length !== calls.length) throw new Error('a call was not made')
  return `${calls.length} operations were called: ${answered.length} succeeded, ${refused.length} were refused by their own route`
}
