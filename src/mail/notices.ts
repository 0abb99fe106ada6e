import type { Client } from '../accounts/client'
import { countryName } from '../lib/country'
import { iso } from '../lib/time'
import { clientNamed } from '../lib/user-agent'
import { isPlainName, type Mail } from './texts'

/*
 * Emails about the security of an account. They contain no text that somebody else chose, unless it cannot look like an
 * address: email programs turn addresses into links.
 */

/** The user that a notice is for. `origin`: what links begin with; null if it is not known. `at`: when it happened (ms). */
export type Notice = { email: string; origin: string | null; at: number }

/** The email about a sign-in from a browser or another client that is not known. */
export function signInNotice({ email, origin, at }: Notice, { user_agent, country }: Client): Mail {
  const client = clientNamed(user_agent) ?? 'unknown'
  const place = country === null ? 'unknown' : countryName(country)
  return {
    to: email,
    subject: 'New sign-in to your account',
    text: `Somebody signed in to your account, ${email}, from a browser or client that we do not know.\n\nClient: ${client}\nCountry: ${place}\nTime: ${timeOf(at)}\n\nIf this was you, there is nothing to do.\n\nIf not, secure your mailbox first, because whoever signed in had a code that was sent there. Then ${signOut(origin)}, and check the members and the API keys of your projects.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: new sign-in, client ${client}, country ${place}`,
  }
}

/** An API key that was created in the name of a user. */
type Created = { id: string; name: string; project_id: string; project: string }

/** The email about a new API key. */
export function keyNotice({ email, origin, at }: Notice, key: Created): Mail {
  const what = isPlainName(key.name) ? `“${key.name}” (${key.id})` : key.id
  const where = isPlainName(key.project) ? `the project “${key.project}”` : 'one of your projects'
  const path = `/console/p/${key.project_id}/platform/settings/api-keys/${key.id}`
  const revoke = origin === null ? 'revoke the key in the console' : `revoke the key at ${origin}${path}`
  return {
    to: email,
    subject: 'A new API key was created in your name',
    text: `An API key was created in your name.\n\nAPI key: ${what}\nProject: ${where}\nTime: ${timeOf(at)}\n\nIf this was you, there is nothing to do.\n\nIf not, ${revoke}. Then ${signOut(origin)}.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: new API key ${what} in ${where}`,
  }
}

/** The email that says that there will be no more of the others. */
export function noticesOffMail({ email, origin, at }: Notice): Mail {
  return {
    to: email,
    subject: 'Security emails were turned off',
    text: `Security emails to ${email} were turned off (${timeOf(at)}). You no longer get an email about sign-ins from new browsers, or about API keys that are created in your name.\n\nIf this was not you, ${signOut(origin)}, and turn the emails on again on the same page.\n`,
    printed: `Notice for ${email}: security emails were turned off`,
  }
}

const turnOff = 'You can turn these emails off on the page “Sessions” of the console.'

function signOut(origin: string | null): string {
  const page = origin === null ? 'open the page “Sessions” of the console' : `open ${origin}/console/sessions`
  return `${page} and choose “Sign out everywhere”`
}

function timeOf(at: number): string {
  return `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
}
