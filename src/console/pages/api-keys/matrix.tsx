import type { Child } from 'hono/jsx'
import type { Scope } from '../../../lib/access'
import { capital } from '../../ui/format'
import { type Resource, resourcesOf, VERBS, verbOf } from './access'

/** The scopes of a key. */
export function Scopes({ of }: { of: readonly Scope[] }) {
  return (
    <Matrix
      label="Scopes"
      resources={resourcesOf(of).map((resource) => ({ ...resource, hint: '' }))}
      cell={(scope) =>
        of.includes(scope) ? (
          <span class="yes">
            <span aria-hidden="true">✓</span>
            <span class="unseen">yes</span>
          </span>
        ) : (
          <NoScope says="no" />
        )
      }
    />
  )
}

/** A table of scopes: a row for each resource, and a column for each verb. */
export function Matrix(props: { label: string; resources: readonly Resource[]; cell: (scope: Scope) => Child }) {
  const verbs = VERBS.filter((verb) => props.resources.some(({ scopes }) => scopes.some((s) => verbOf(s) === verb)))
  return (
    <table class="matrix" aria-label={props.label}>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          {verbs.map((verb) => (
            <th scope="col">{capital(verb)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.resources.map(({ name, label, hint, scopes }) => (
          <tr>
            <th scope="row">
              {label} <code>{name}</code>
              {hint && <span class="hint">{hint}</span>}
            </th>
            {verbs.map((verb) => {
              const scope = scopes.find((one) => verbOf(one) === verb)
              return <td>{scope ? props.cell(scope) : <NoScope says="there is no such scope" />}</td>
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A cell without a scope. */
export function NoScope({ says }: { says: string }) {
  return (
    <span class="quiet">
      <span aria-hidden="true">–</span>
      <span class="unseen">{says}</span>
    </span>
  )
}
