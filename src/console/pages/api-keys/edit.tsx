import type { Context } from 'hono'
import { MAX_NAME } from '../../../api-keys/limits'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { earlierThan } from './expiry'

type Entered = { name: string; expires: string; on: string }

/** The form that renames a key, or lets it expire earlier. */
export function editPage(c: Context<HttpEnv>, row: KeyRow, entered: Entered, { mistakes, status } = UNSENT) {
  const { keys } = pathsOf(c)
  const { now } = c.get('rt')
  const { expires_at } = row
  return show(
    c,
    { title: 'Edit API key', section: 'keys', above: ['API keys', keys], status },
    <>
      <Head title={`Edit “${row.name}”`} />
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <Post c={c} to={`${keys}/${row.id}/edit`} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <Field name="name" label="Name" value={entered.name} required maxlength={MAX_NAME} mistakes={mistakes} />
        <div class="pair">
          <Field name="expires" label="Expires">
            <Select name="expires" value={entered.expires} options={earlierThan(expires_at, now)} />
          </Field>
          <Field name="on" label="Date (UTC)" type="date" value={entered.on} />
        </div>
        <p class="hint">
          {expires_at === null ? 'The key never expires' : `The key expires at ${exact(expires_at)}`}. It can expire
          earlier, but not later: to let a key live longer, create another.
        </p>
        <Wrong>{mistakes.expires_at}</Wrong>
        <div class="choice">
          <button type="submit" class="primary">
            Save
          </button>
          <a class="button" href={keys}>
            Cancel
          </a>
        </div>
      </Post>
    </>,
  )
}
