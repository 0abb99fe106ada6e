import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/store'
import type { Mistakes } from '../../form'
import { Field, Post } from '../../ui/controls'
import { pathOf } from './describe'

/** Renames, disables, enables or deletes a connection. */
export function Settings({ c, row, mistakes }: { c: Context<HttpEnv>; row: ConnectionRow; mistakes: Mistakes }) {
  const at = pathOf(c, row)
  return (
    <>
      <h2>Settings</h2>
      <Post c={c} to={at} class="form">
        <Field name="name" label="Name" value={row.name} required maxlength={100} mistakes={mistakes} />
        <button type="submit">Rename</button>
      </Post>
      <Post c={c} to={at}>
        <p>
          {row.status === 'active'
            ? 'A disabled connection refuses deliveries. Most vendors retry them for a while.'
            : 'This connection is disabled and refuses deliveries.'}
        </p>
        <input type="hidden" name="status" value={row.status === 'active' ? 'disabled' : 'active'} />
        <div class="choice">
          <button type="submit">{row.status === 'active' ? 'Disable' : 'Enable'}</button>
          <a class="button danger" href={`${at}/delete`} data-dialog>
            Delete connection
          </a>
        </div>
      </Post>
    </>
  )
}
