import { createInterface } from 'node:readline/promises'
import { ask, must } from './api.ts'
import { readLocal, writeLocal } from './paths.ts'
import { findCode } from './server-log.ts'
import { sleep } from './terminal.ts'

/** Whom `npm run send` signs in as on this machine. */
export const LOCAL_USER = 'local@example.com'

export type Session = { token: string; expires_at: string; user: { id: string; email: string } }

/** How long the local server has to print a code, in milliseconds. */
const CODE_WITHIN = 10_000

/** Whether an address is this machine's: scripts read sign-in codes and make up users there, and nowhere else. */
export function isLocal(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}

/**
 * Signs in as a customer does: asks for a code and spends it. npm start notes the codes it prints, so the local server's
 * is read from there; another server's is in the user's mail, and is asked for.
 */
export async function signIn(url: string, email: string): Promise<Session> {
  const { challenge } = await must<{ challenge: string }>(`${url}/auth/codes`, { json: { email } })
  const code = isLocal(url) ? await printedCode(challenge) : await typedCode(email)
  return must<Session>(`${url}/auth/sessions`, { json: { challenge, code } })
}

/** A session for the scripts' own local user, kept between runs. Local servers only. */
export async function localSession(url: string): Promise<Session> {
  if (!isLocal(url))
    throw new Error(`${url} is not this machine: give --connection, --signing-secret, --token and --project.`)
  const name = `session-${new URL(url).port || '80'}.json`
  const kept = readLocal<Session>(name)
  if (kept) {
    const { status } = await ask(`${url}/auth/sessions/current`, { token: kept.token })
    if (status === 200) return kept
  }
  const session = await signIn(url, LOCAL_USER)
  writeLocal(name, session)
  return session
}

async function printedCode(challenge: string): Promise<string> {
  for (const until = Date.now() + CODE_WITHIN; Date.now() < until; await sleep(50)) {
    const code = findCode(challenge)
    if (code !== null) return code
  }
  throw new Error(
    'The server printed no sign-in code that this checkout can read. Start the server with npm start in this checkout ' +
      '(an address is sent at most 20 codes an hour).',
  )
}

async function typedCode(email: string): Promise<string> {
  if (!process.stdin.isTTY) throw new Error(`The code was sent to ${email}: run this in a terminal to type it in.`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const code = await terminal.question(`The code that was sent to ${email}: `)
  terminal.close()
  return code.trim()
}
