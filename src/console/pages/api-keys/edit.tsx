import type { Context } from 'hono'
import { MAX_NAME } from '../../../api-keys/limits'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Field, Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { ExpiryFields, earlierThan } from './expiry-fields'

type Entered = { name: string; expires: string; on: string }

/** The form that renames a key, or lets it expire earlier. */
export function editPage(c: Context<HttpEnv>, row: KeyRow, entered: Entered, { mistakes, status } = UNSENT) {
  const path = `${pathsOf(c).keys}/${row.id}`
  const { expires_at } = row
  return show(
    c,
    { title: 'Edit API key', section: 'keys', above: [row.name, path], status },
    <>
      <Head title="Edit API key" />
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <Post c={c} to={`${path}/edit`} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <Field name="name" label="Name" value={entered.name} required maxlength={MAX_NAME} mistakes={mistakes} />
        <ExpiryFields
          options={earlierThan(expires_at, c.get('rt').now)}
          entered={entered}
          hint={
            <>
              {expires_at === null ? 'The key never expires' : `The key expires at ${exact(expires_at)}`}. It can expire
              earlier, but not later. If you need a key for longer, create another.
            </>
          }
          mistake={mistakes.expires_at}
        />
        <p class="hint">The scopes of a key never change. For other scopes, create another key.</p>
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}
