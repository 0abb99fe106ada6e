import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOCAL_DIR } from './paths.ts'

/** Matches the line of the local server with a sign-in code: challenge and code. */
export const SIGN_IN_LINK = /\/auth\/sign-in[#?]challenge=(chl_[0-9a-z]+)&code=([0-9A-Z]+)/

/** Matches the line with a code that confirms a session: code and challenge. */
export const CONFIRMATION = /Confirmation code for \S+: ([0-9A-Z]{8}) \((chl_[0-9a-z]+)\)/

const SIGN_IN_LOG = join(LOCAL_DIR, 'sign-in.log')

/**
 * Lines without information: health checks, console polls that found nothing, housekeeping that is done, and wrangler's lines
 * for each request.
 */
const NOISE = [
  /"path":"\/healthz","status":200/,
  /"path":"\/console\/[^"]+\/live","status":204/,
  /"level":"info","event":"housekeeping".*"left":0,/,
  /^\[wrangler:(info|inf)\] (GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|QUEUE) /,
  /^(Your Worker has access to the following bindings:|Binding +Resource|env\.[A-Z0-9_]+ \()/,
]

export function isNoise(line: string): boolean {
  return NOISE.some((pattern) => pattern.test(line))
}

/** Starts an empty log of sign-in codes that only its owner can read. A code expires in ten minutes and works once. */
export function startSignInLog(): void {
  mkdirSync(LOCAL_DIR, { recursive: true })
  writeFileSync(SIGN_IN_LOG, '', { mode: 0o600 })
}

/** Keeps a code that was printed, so that the local scripts can sign in as a customer would. */
export function rememberCode(challenge: string, code: string): void {
  appendFileSync(SIGN_IN_LOG, `${challenge} ${code}\n`, { mode: 0o600 })
}

/** The code of a challenge; null until the server has printed it. */
export function findCode(challenge: string): string | null {
  try {
    const line = readFileSync(SIGN_IN_LOG, 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`${challenge} `))
    return line?.split(' ')[1] ?? null
  } catch {
    return null
  }
}

/** A line to paste into a shell: it redeems the code and puts the session token into $TOKEN. */
export function redeemLine(url: string, challenge: string, code: string): string {
  const body = JSON.stringify({ challenge, code })
  return `TOKEN=$(curl -s ${url}/auth/sessions -H 'Content-Type: application/json' -d '${body}' | sed -E 's/.*"token":"([^"]+)".*/\\1/')`
}
