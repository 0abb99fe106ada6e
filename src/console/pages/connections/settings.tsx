import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { MAX_NAME } from '../../../inbox/connections/limits'
import type { Mistakes } from '../../refusal'
import { Field, Post } from '../../ui/controls'
import { vendorTitle } from '../../ui/vendor-titles'
import { ModeField } from './connect'
import { pathOf } from './describe'

type SettingsProps = { c: Context<HttpEnv>; row: ConnectionRow; entered: string; mistakes: Mistakes }

/** Changes, disables, enables or deletes a connection. @param entered the name in the form */
export function Settings({ c, row, entered, mistakes }: SettingsProps) {
  const at = pathOf(c, row)
  const active = row.status === 'active'
  return (
    <>
      <h2 id="settings">Settings</h2>
      <Post c={c} to={at} class="form">
        <Field name="name" label="Name" value={entered} required maxlength={MAX_NAME} mistakes={mistakes} />
        <ModeField title={vendorTitle(row.vendor)} value={String(row.livemode)} mistakes={mistakes}>
          <p class="hint">A change also applies to events and billing state that are already stored.</p>
        </ModeField>
        <button type="submit">Save</button>
      </Post>
      <h2>{active ? 'Disable or delete' : 'Enable or delete'}</h2>
      <p class="quiet">
        {active
          ? 'A disabled connection refuses deliveries until you enable it again. A deleted one is gone, and its events stay.'
          : 'This connection is disabled and refuses every delivery.'}
      </p>
      <div class="choice">
        {active ? (
          <a class="button" href={`${at}/disable`} data-dialog>
            Disable
          </a>
        ) : (
          <Post c={c} to={at}>
            <input type="hidden" name="status" value="active" />
            <button type="submit" class="primary">
              Enable
            </button>
          </Post>
        )}
        <a class="button danger" href={`${at}/delete`} data-dialog>
          Delete connection
        </a>
      </div>
    </>
  )
}
