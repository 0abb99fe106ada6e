import type { Context } from 'hono'
import { MAX_NAME } from '../../../api-keys/limits'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { pathsOf } from '../../page'
import { userOf } from '../../session'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { EXPIRIES } from './expiry'

type Entered = { name: string; scopes: readonly string[]; expires: string; on: string }

/** The form for a new API key. It offers the scopes that the user has. */
export function createPage(c: Context<HttpEnv>, entered: Entered, { mistakes, status } = UNSENT) {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: 'Create API key', section: 'keys', above: ['API keys', keys], status },
    <>
      <Head title="Create API key" />
      <Post c={c} to={keys} class="form">
        <Wrong>{mistakes.form}</Wrong>
        <Field
          name="name"
          label="Name"
          value={entered.name}
          required
          maxlength={MAX_NAME}
          autofocus
          mistakes={mistakes}
          hint="A label, for example the server that uses the key."
        />
        <fieldset>
          <legend>Scopes</legend>
          <p class="hint">What the key can do in this project. You can grant the scopes that your own role has.</p>
          <div class="checks">
            {userOf(c).scopes.map((scope) => (
              <label>
                <input type="checkbox" name="scope" value={scope} checked={entered.scopes.includes(scope)} />{' '}
                <code>{scope}</code>
              </label>
            ))}
          </div>
          <Wrong>{mistakes.scopes && 'Choose at least one scope.'}</Wrong>
        </fieldset>
        <div class="pair">
          <Field name="expires" label="Expires">
            <Select name="expires" value={entered.expires} options={EXPIRIES} />
          </Field>
          <Field name="on" label="Date (UTC)" type="date" value={entered.on} />
        </div>
        <Wrong>{mistakes.expires_at}</Wrong>
        <button type="submit" class="primary">
          Create API key
        </button>
      </Post>
    </>,
  )
}
