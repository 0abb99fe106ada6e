import { createInterface } from 'node:readline/promises'
import { ask, must } from './api.ts'
import { isLocal } from './local-url.ts'
import { ELSEWHERE, readLocal, writeLocal } from './paths.ts'
import { findCode } from './server-log.ts'
import { sleep } from './terminal.ts'

/** The user that `npm run send` signs in as on this machine. */
export const LOCAL_USER = 'local@example.com'

export type Session = { token: string; expires_at: string; user: { id: string; email: string } }

/** How long to wait for the local server to print a code (ms). */
const CODE_WITHIN = 60_000

/**
 * Signs in as a customer would: requests a code and redeems it. npm start keeps the codes that it prints, so the code
 * of the local server is read from there. The code of another server is in an email to the user, and the script asks for it.
 */
export async function signIn(url: string, email: string): Promise<Session> {
  const { challenge } = await must<{ challenge: string }>(`${url}/auth/codes`, { json: { email } })
  const code = isLocal(url) ? await printedCode(challenge) : await typedCode(email)
  return must<Session>(`${url}/auth/sessions`, { json: { challenge, code } })
}

/** A session of the scripts' own user, kept between runs. Local servers only. */
export async function localSession(url: string): Promise<Session> {
  if (!isLocal(url)) throw new Error(`${url} is not on this machine: --connection and --signing-secret are required.`)
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

/** The code that the local server has printed for a challenge. @throws if it prints none */
export async function printedCode(challenge: string): Promise<string> {
  for (const until = Date.now() + CODE_WITHIN; Date.now() < until; await sleep(50)) {
    const code = findCode(challenge)
    if (code !== null) return code
  }
  throw new Error(
    `The server did not print a sign-in code. Start it with npm start in this checkout.
${ELSEWHERE}
One machine can get at most 10 codes an hour for an address.`,
  )
}

async function typedCode(email: string): Promise<string> {
  if (!process.stdin.isTTY) throw new Error(`The code was sent to ${email}. Run this in a terminal to enter it.`)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const code = await terminal.question(`Enter the code that was sent to ${email}: `)
  terminal.close()
  return code.trim()
}
