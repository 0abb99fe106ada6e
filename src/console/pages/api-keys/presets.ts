import { missingScopes, type Scope } from '../../../lib/access'
import { verbOf } from './access'

/** @property hint what a key with it may do, in one line */
type Preset = { name: string; label: string; hint: string; scopes: readonly Scope[] }

/** The name of the choice that takes the scopes as they are ticked. */
export const CUSTOM = 'custom'

/** The preset that a new key has at first. The examples of the console and of the docs for consumers and devices need its scopes. */
export const APPLICATION = {
  name: 'application',
  label: 'Application server: consumers and entitlements',
  hint: 'Creates consumers and their devices, and checks what each consumer may do.',
  scopes: ['consumers:read', 'consumers:write', 'entitlements:read'],
} as const satisfies Preset

/** Sets of scopes, each for one job. */
const JOBS: readonly Preset[] = [
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

/** The presets that a user with these scopes can choose. Presets with a scope that the user lacks are left out. */
export function presetsFor(held: readonly Scope[]): readonly Preset[] {
  const presets: Preset[] = [
    ...JOBS,
    {
      name: 'read',
      label: 'Read only',
      hint: 'Reads everything that you can read, and changes nothing.',
      scopes: held.filter((scope) => verbOf(scope) === 'read'),
    },
    {
      name: 'all',
      label: 'Everything I can do',
      hint: 'Has all scopes of your role. Anyone who has the secret can do what you can.',
      scopes: held,
    },
  ]
  return presets.filter(({ scopes }) => scopes.length > 0 && missingScopes(scopes, held).length === 0)
}

/** The scopes that a form asks for: the chosen preset's, or the ticked ones. */
export function scopesIn(form: URLSearchParams, held: readonly Scope[]): readonly string[] {
  const preset = presetsFor(held).find(({ name }) => name === form.get('preset'))
  return preset?.scopes ?? form.getAll('scope')
}
