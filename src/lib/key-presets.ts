import type { Scope } from './access'

/**
 * A set of scopes for one job, which the console offers and `npm run bootstrap` takes by its name.
 *
 * @property hint what a key with it may do, in one line
 */
export type Job = { name: string; label: string; hint: string; scopes: readonly Scope[] }

/** The preset that a new key has at first. The examples of the console and of the docs for consumers and devices need its scopes. */
export const APPLICATION = {
  name: 'application',
  label: 'Application server: consumers and entitlements',
  hint: 'Creates consumers and their devices, and checks what each consumer may do.',
  scopes: ['consumers:read', 'consumers:write', 'entitlements:read'],
} as const satisfies Job

export const JOBS: readonly Job[] = [
  APPLICATION,
  {
    name: 'sign_in',
    label: 'Sign-in server: single sign-on',
    hint: 'Signs in your customers’ employees, and reads their consumers.',
    scopes: ['consumers:read', 'sso:use'],
  },
  {
    name: 'copy',
    label: 'Copy of the data: the feed of changes',
    hint: 'Reads billing state, consumers, the catalog and entitlements, for example to keep a mirror.',
    scopes: ['projects:read', 'billing:read', 'consumers:read', 'catalog:read', 'entitlements:read'],
  },
  {
    name: 'billing',
    label: 'Read events and billing',
    hint: 'Reads events, subscriptions, invoices and health. Changes nothing.',
    scopes: ['billing:read'],
  },
  {
    name: 'replays',
    label: 'Operations: events and replays',
    hint: 'Reads events and billing state, replays events, and reads the connections they come from.',
    scopes: ['billing:read', 'billing:write', 'connections:read'],
  },
]

/** What a preset with just these scopes is called in short: `Application server`. Undefined if there is none. */
export function presetName(scopes: readonly unknown[]): string | undefined {
  const same = JOBS.find(
    (job) => job.scopes.length === scopes.length && job.scopes.every((one) => scopes.includes(one)),
  )
  return same?.label.split(':')[0]
}
