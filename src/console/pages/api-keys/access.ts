import { SCOPES, type Scope } from '../../../lib/access'
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
