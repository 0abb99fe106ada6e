import type { Scope } from '../../../lib/access'
import { Wrong } from '../../ui/controls'
import { resourcesOf } from './access'
import { Matrix, NoScope } from './matrix'
import { CUSTOM, presetsFor } from './presets'

type ChoiceProps = {
  /** The scopes of the user, which can be given to the key. */
  held: readonly Scope[]
  preset: string
  ticked: readonly string[]
  mistake: string | undefined
}

/**
 * What a new key is for: presets, and a matrix of scopes behind them. With a script, each follows the other. Without one, the
 * matrix is shown only for the choice that uses it.
 */
export function ScopeChoice({ held, preset, ticked, mistake }: ChoiceProps) {
  return (
    <fieldset class="scopes" data-scopes>
      <legend>What is the key for?</legend>
      <div class="presets">
        {presetsFor(held).map((one) => (
          <Choice {...one} chosen={preset} />
        ))}
      </div>
      <details open={preset === CUSTOM}>
        <summary>Choose scopes</summary>
        <div class="presets">
          <Choice
            name={CUSTOM}
            label="Only the scopes I select"
            hint="These are the scopes of your role. Select only what your server needs."
            chosen={preset}
          />
        </div>
        <Ticks held={held} ticked={ticked} />
      </details>
      <Wrong>{mistake && 'Select at least one scope.'}</Wrong>
    </fieldset>
  )
}

function Choice(of: { name: string; label: string; hint: string; chosen: string; scopes?: readonly Scope[] }) {
  return (
    <label>
      <input
        type="radio"
        name="preset"
        value={of.name}
        checked={of.chosen === of.name}
        data-preset={of.scopes?.join(' ')}
        autocomplete="off"
      />
      <span>
        <strong>{of.label}</strong> <span class="hint">{of.hint}</span>
      </span>
    </label>
  )
}

function Ticks({ held, ticked }: Pick<ChoiceProps, 'held' | 'ticked'>) {
  return (
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
          <NoScope says="your role does not have it" />
        )
      }
    />
  )
}
