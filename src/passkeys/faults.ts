import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'

/**
 * Does a verification, whose errors say what is wrong with what an authenticator answered. The reason is logged; callers
 * get the fault.
 *
 * @param refused makes the fault
 * @throws {Fault} what `refused` makes
 */
export async function verified<T>(c: Context<HttpEnv>, refused: () => Fault, verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof Fault) throw error
    c.get('log').passkey_refused = (error instanceof Error ? error.message : String(error)).slice(0, 200)
    throw refused()
  }
}

export function registrationRefused(): Fault {
  return new Fault(
    'registration_refused',
    'The new passkey could not be verified, or took too long. Ask for new options and try again.',
  )
}

export function invalidPasskey(): Fault {
  return new Fault(
    'invalid_passkey',
    'We do not recognize the passkey, it could not be verified, or it took too long. Try again, or sign in with a code.',
  )
}

/** For a call that needs the second factor of users who have a passkey, in a session without it. */
export function factorRequired(): Fault {
  return new Fault('passkey_required', 'You have a passkey: use it, or a recovery code, in this session first.')
}
