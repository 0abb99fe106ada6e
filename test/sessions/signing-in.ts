import { hashCode } from '../../src/sessions/secret'
import { bound, call, DIRECTORY, freshEmail, type Mail, mailbox, type RequestOptions } from '../harness'

export { freshEmail }

/** The sign-in code that a mail has. */
export function codeIn(mail: Mail | undefined): string {
  return /code is ([0-9A-HJKMNP-TV-Z]{8})\b/.exec(mail?.text ?? '')?.[1] as string
}

/** A code that is not this one: `i` gives others. */
export function wrong(code: string, i = 0): string {
  return code.slice(0, 7) + 'ABCDEFGH'.replace(code[7] as string, 'Z')[i]
}

/** Asks for a code. */
export function ask(email: unknown, options: RequestOptions = {}) {
  return call('/auth/codes', { method: 'POST', json: { email }, ...options })
}

/** Signs in with a code. */
export function redeem(challenge: string, code: string, options: RequestOptions = {}) {
  return call('/auth/sessions', { method: 'POST', json: { challenge, code }, ...options })
}

/** Asks for a code and reads it from the mail. */
export async function sent(email = freshEmail(), settings: RequestOptions['bindings'] = {}) {
  const { EMAIL, mails } = mailbox()
  const { status, body, text } = await ask(email, { bindings: { EMAIL, ...settings } })
  const [mail] = mails
  if (status !== 202 || !mail) throw new Error(`no code was sent: ${status} ${text}`)
  return { email, challenge: body.challenge, code: codeIn(mail), mail }
}

/** Signs in with a code from the mail. */
export async function signIn(email = freshEmail(), options: RequestOptions = {}) {
  const { challenge, code } = await sent(email)
  const { status, body, text } = await redeem(challenge, code, options)
  if (status !== 201) throw new Error(`signing in answered ${status}: ${text}`)
  return { email, token: body.token, user: body.user, expires_at: body.expires_at }
}

/** Stores a code of the test's choice in place of the one that was sent. */
export async function plant(challenge: string, code: string) {
  const hash = await hashCode(bound.CODE_PEPPER as string, challenge, code)
  await DIRECTORY.prepare('UPDATE sign_in_codes SET code_hash = ? WHERE id = ?').bind(hash, challenge).run()
}

/** The session of a token, as the API answers it. */
export function current(token: string) {
  return call('/auth/sessions/current', { token })
}

/** The users with this email address. */
export async function usersOf(email: string) {
  const { results } = await DIRECTORY.prepare('SELECT id FROM users WHERE email = ?').bind(email).all<{ id: string }>()
  return results
}
