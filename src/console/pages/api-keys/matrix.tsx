import type { Child } from 'hono/jsx'
import type { Scope } from '../../../lib/access'
import { Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { CUSTOM, presetsFor, type Resource, resourcesOf, VERBS, verbOf } from './access'

type ChoiceProps = {
  /** The scopes of the user, which can be given to the key. */
  held: readonly Scope[]
  preset: string
  ticked: readonly string[]
  mistake: string | undefined
}

/**
 * The scopes of a new key: presets, and a matrix to choose from. With a script, each follows the other. Without one,
 * the matrix is shown only for the choice that uses it.
 */
export function ScopeChoice({ held, preset, ticked, mistake }: ChoiceProps) {
  return (
    <fieldset class="scopes" data-scopes>
      <legend>Scopes</legend>
      <p class="hint">What the key may do in this project. Choose only what its server needs.</p>
      <div class="presets">
        {presetsFor(held).map(({ name, label, hint, scopes }) => (
          <label>
            <input
              type="radio"
              name="preset"
              value={name}
              checked={preset === name}
              data-preset={scopes.join(' ')}
              autocomplete="off"
            />
            <span>
              <strong>{label}</strong> <span class="hint">{hint}</span>
            </span>
          </label>
        ))}
        <label>
          <input type="radio" name="preset" value={CUSTOM} checked={preset === CUSTOM} autocomplete="off" />
          <span>
            <strong>Choose scopes</strong> <span class="hint">Any of the scopes that your role has.</span>
          </span>
        </label>
      </div>
      <Matrix
        label="Scopes"
        resources={resourcesOf(held)}
        cell={(scope) =>
          held.includes(scope) ? (
            <label class="tick">
              <input type="checkbox" name="scope" value={scope} checked={ticked.includes(scope)} autocomplete="off" />
              <span class="unseen">{scope}</span>
            </label>
          ) : (
            <None says="your role does not have it" />
          )
        }
      />
      <Wrong>{mistake && 'Choose at least one scope.'}</Wrong>
    </fieldset>
  )
}

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
          <None says="no" />
        )
      }
    />
  )
}

function Matrix(props: { label: string; resources: readonly Resource[]; cell: (scope: Scope) => Child }) {
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
              return <td>{scope ? props.cell(scope) : <None says="there is no such scope" />}</td>
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function None({ says }: { says: string }) {
  return (
    <span class="quiet">
      <span aria-hidden="true">–</span>
      <span class="unseen">{says}</span>
    </span>
  )
}
