import { missingScopes, SCOPES, type Scope } from '../../../lib/access'
import { AREAS, type Area } from '../../../lib/access-words'

export type Resource = { name: Area; label: string; hint: string; scopes: readonly Scope[] }

const resourceOf = (scope: Scope) => scope.slice(0, scope.indexOf(':')) as Area
export const verbOf = (scope: Scope) => scope.slice(scope.indexOf(':') + 1)

/** The verbs of scopes, which are the columns of the matrix: read, write, and any other. */
export const VERBS: readonly string[] = [...new Set(SCOPES.map(verbOf))]

/** The resources that these scopes are about, in the order of {@link SCOPES}. */
export function resourcesOf(scopes: readonly Scope[]): Resource[] {
  const names = [...new Set(SCOPES.filter((scope) => scopes.includes(scope)).map(resourceOf))]
  return names.map((name) => ({
    name,
    ...AREAS[name],
    scopes: SCOPES.filter((scope) => resourceOf(scope) === name),
  }))
}

export type Preset = { name: string; label: string; hint: string; scopes: readonly Scope[] }

/** The name of the choice that takes the scopes as they are ticked. */
export const CUSTOM = 'custom'

/** Sets of scopes for common purposes, the smallest first. Sets with scopes that the user lacks are left out. */
export function presetsFor(held: readonly Scope[]): Preset[] {
  const presets: Preset[] = [
    {
      name: 'billing',
      label: 'Read events and billing',
      hint: 'For a server that only reads events, subscriptions, invoices and health.',
      scopes: ['billing:read'],
    },
    {
      name: 'server',
      label: 'Server: events and replays',
      hint: 'For a server that also replays events, and reads the connections they come from.',
      scopes: ['billing:read', 'billing:write', 'connections:read'],
    },
    {
      name: 'read',
      label: 'Read only',
      hint: 'Reads everything that you can read, and changes nothing.',
      scopes: held.filter((scope) => verbOf(scope) === 'read'),
    },
    {
      name: 'all',
      label: 'Everything I can do',
      hint: 'All scopes of your role. Anyone who has the secret can do what you can.',
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
