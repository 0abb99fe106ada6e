import { missingScopes, type Scope } from '../../../lib/access'
import { JOBS, type Job } from '../../../lib/key-presets'
import { verbOf } from './access'

/** The name of the choice that takes the scopes as they are ticked. */
export const CUSTOM = 'custom'

/** The presets that a user with these scopes can choose. Presets with a scope that the user lacks are left out. */
export function presetsFor(held: readonly Scope[]): readonly Job[] {
  const presets: Job[] = [
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
      hint: 'Has all the scopes of your role. Anyone with the secret can do what you can do.',
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
