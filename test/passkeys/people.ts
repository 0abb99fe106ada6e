import { call, DIRECTORY, type RequestOptions, signedIn } from '../harness'
import { newAuthenticator, type Wrong } from './authenticator'

export type Person = { user: string; email: string; token: string }

const post = (path: string, options: RequestOptions) => call(path, { method: 'POST', ...options })

/** The options for a new passkey. */
export async function creationOptions(token: string) {
  const { body } = await post('/auth/passkeys/options', { token })
  return body.options as never
}

/** Registers a passkey on a new authenticator. */
export async function register(
  token: string,
  { name, bindings, ...wrong }: Wrong & Pick<RequestOptions, 'bindings'> & { name?: string } = {},
  at = newAuthenticator(),
) {
  const authenticator = await at
  const credential = await authenticator.create(await creationOptions(token), wrong)
  const answer = await post('/auth/passkeys', {
    token,
    json: { credential, ...(name && { name }) },
    ...(bindings && { bindings }),
  })
  return { authenticator, credential, answer, ...answer.body }
}

/** A user with a passkey, and the recovery codes that came with it. */
export async function withPasskey() {
  const person = await signedIn()
  const { authenticator, passkey, recovery_codes, answer } = await register(person.token)
  if (answer.status !== 201) throw new Error(`registering answered ${answer.status}: ${answer.text}`)
  return { ...person, authenticator, passkey, codes: recovery_codes }
}

/** The options for signing in. */
export async function requestOptions() {
  const { body } = await post('/auth/passkeys/challenge', {})
  return body.options as never
}

/** Signs in with what an authenticator answers. */
export function signInBy(credential: unknown, options: RequestOptions = {}) {
  return post('/auth/sessions/passkey', { json: { credential }, ...options })
}

/** Uses a passkey in a session. */
export async function prove(
  token: string,
  authenticator: Awaited<ReturnType<typeof newAuthenticator>>,
  wrong: Wrong = {},
  options: RequestOptions = {},
) {
  const { body } = await post('/auth/session/passkey/options', { token })
  const credential = await authenticator.get(body.options as never, wrong)
  return post('/auth/session/passkey', { token, json: { credential }, ...options })
}

/** Another session of a user, as a sign-in by code would open it: without a second factor. */
export async function byCode(person: Person) {
  const other = await signedIn()
  await DIRECTORY.prepare('UPDATE sessions SET user_id = ? WHERE user_id = ?').bind(person.user, other.user).run()
  return { ...person, token: other.token }
}
