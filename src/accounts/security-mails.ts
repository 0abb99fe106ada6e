import { countryName } from '../lib/country'
import { iso } from '../lib/time'
import { clientNamed } from '../lib/user-agent'
import { isPlainName, type Mail } from '../mail/mail'
import type { Client } from './by'
import type { EventType } from './schema'

/*
 * Emails about the security of an account. They contain no text that somebody else chose, unless it cannot look like an
 * address: email programs turn addresses into links.
 */

/** The user that a notice is for. `origin`: what links begin with; null if it is not known. `at`: when it happened (ms). */
export type Notice = { email: string; origin: string | null; at: number }

/** How somebody signed in, and what to do first if it was not the user. */
const FIRST = {
  code: (_: string | null) => 'secure your mailbox first, because whoever signed in had a code that was sent there',
  passkey: (origin: string | null) =>
    `${open(origin, 'passkeys')} and delete any passkey that you do not recognize or no longer have, because whoever signed in used one of yours`,
  sso: (_: string | null) =>
    'tell whoever manages your organization’s identity provider, because whoever signed in used your account there',
}

/** The email about a sign-in from a browser or another client that is not known. */
export function signInNotice({ email, origin, at }: Notice, by: keyof typeof FIRST, from: Client): Mail {
  const { client, place } = named(from)
  return {
    to: email,
    subject: 'New sign-in to your account',
    text: `Someone signed in to your account, ${email}, from a new browser or client.\n\nClient: ${client}\nCountry: ${place}\nTime: ${timeOf(at)}\n\nIf this was you, you do not need to do anything.\n\nIf not, ${FIRST[by](origin)}. Then ${signOut(origin)}, and check the members and the API keys of your projects.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: new sign-in, client ${client}, country ${place}`,
  }
}

/** What each change of a user's passkeys and recovery codes is called. */
const CHANGES = {
  passkey_added: ['A passkey was added to your account', 'It can be used to sign in to your account.'],
  passkey_deleted: ['A passkey was deleted from your account', 'It can no longer be used to sign in to your account.'],
  recovery_codes_made: ['New recovery codes were generated for your account', 'The old ones no longer work.'],
  recovery_code_used: ['A recovery code for your account was used', 'It cannot be used again.'],
} as const satisfies Partial<Record<EventType, readonly [string, string]>>
export type FactorChange = keyof typeof CHANGES

/** The email about a change of passkeys or recovery codes. */
export function factorNotice({ email, origin, at }: Notice, change: FactorChange, from: Client): Mail {
  const [subject, effect] = CHANGES[change]
  const { client, place } = named(from)
  return {
    to: email,
    subject,
    text: `${subject}, ${email}. ${effect}\n\nClient: ${client}\nCountry: ${place}\nTime: ${timeOf(at)}\n\nIf this was you, you do not need to do anything.\n\nIf not, ${signOut(origin)}. Secure your mailbox. Then ${open(origin, 'passkeys')}, delete any passkeys that you do not recognize, and generate new recovery codes.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: ${subject}, client ${client}, country ${place}`,
  }
}

/** The email about a session that ended because its token was reported. */
export function exposedSessionNotice({ email, origin, at }: Notice): Mail {
  const subject = 'One of your sessions was exposed'
  return {
    to: email,
    subject,
    text: `Someone found the token of one of your console sessions where others can read it, and reported it. The account is ${email}. We ended the session (${timeOf(at)}).\n\nAnyone who found the token before then could act as you. Check ${origin === null ? 'the “Sessions” page of the console' : `${origin}/console/sessions`} for recent activity on your account, and check the audit logs of your projects. If you see something that you did not do, ${signOut(origin)}.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: ${subject}`,
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
    text: `An API key was created in your name.\n\nAPI key: ${what}\nProject: ${where}\nTime: ${timeOf(at)}\n\nIf this was you, you do not need to do anything.\n\nIf not, ${revoke}. Then ${signOut(origin)}.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: new API key ${what} in ${where}`,
  }
}

/** A sign-in that passed the single sign-on of a project by. `by`: the address of who signed in. */
type Bypass = { by: string; project_id: string; project: string }

/** The email to the owners of a project about a sign-in with break-glass access. */
export function bypassNotice({ email, origin, at }: Notice, { by, project_id, project }: Bypass, from: Client): Mail {
  const { client, place } = named(from)
  const where = isPlainName(project) ? `the project “${project}”` : 'one of your projects'
  const path = `/console/p/${project_id}/platform/settings/members`
  const members = origin === null ? 'the “Members” page of the console' : `${origin}${path}`
  return {
    to: email,
    subject: 'A sign-in without single sign-on',
    text: `${by} signed in without the single sign-on that ${where} enforces. They are an owner with break-glass access, so this is allowed.\n\nClient: ${client}\nCountry: ${place}\nTime: ${timeOf(at)}\n\nIf this was expected, you do not need to do anything.\n\nIf not, ask them about it, and remove their break-glass access: ${members}.\n\n${turnOff}\n`,
    printed: `Notice for ${email}: ${by} signed in without the single sign-on of ${where}`,
  }
}

/** The email that says that there will be no more of the others. */
export function noticesOffMail({ email, origin, at }: Notice): Mail {
  return {
    to: email,
    subject: 'Security emails were turned off',
    text: `Security emails to ${email} were turned off (${timeOf(at)}). You no longer get emails about sign-ins from new browsers, API keys that are created in your name, or changes of your passkeys and recovery codes.\n\nIf this was not you, ${signOut(origin)}, and turn the emails on again on the same page.\n`,
    printed: `Notice for ${email}: security emails were turned off`,
  }
}

const turnOff = 'You can turn these emails off on the “Sessions” page of the console.'

const TITLES = { sessions: 'Sessions', passkeys: 'Passkeys' }

function open(origin: string | null, page: keyof typeof TITLES): string {
  return `open ${origin === null ? `the “${TITLES[page]}” page of the console` : `${origin}/console/${page}`}`
}

function signOut(origin: string | null): string {
  return `${open(origin, 'sessions')} and choose “Sign out everywhere”`
}

/** A client in our words, never in its own. */
function named({ user_agent, country }: Client) {
  return {
    client: clientNamed(user_agent) ?? 'unknown',
    place: country === null ? 'unknown' : countryName(country),
  }
}

function timeOf(at: number): string {
  return `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
}
