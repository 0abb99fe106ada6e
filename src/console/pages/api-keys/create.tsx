import type { Context } from 'hono'
import { MAX_NAME } from '../../../api-keys/limits'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Field, Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { presetsFor } from './access'
import { EXPIRIES, ExpiryFields } from './expiry-fields'
import { ScopeChoice } from './matrix'

export type Entered = { name: string; preset: string; scopes: readonly string[]; expires: string; on: string }

/** The form as it is at first: the smallest preset, and an expiry. */
export function blank(c: Context<HttpEnv>): Entered {
  const [least] = presetsFor(userOf(c).scopes)
  return { name: '', preset: least?.name ?? '', scopes: least?.scopes ?? [], expires: '90', on: '' }
}

/**
 * The form for a new API key. It offers the scopes that the user has.
 *
 * @param once the id that the key will have, signed: see `onceOf`
 */
export function createPage(
  c: Context<HttpEnv>,
  { entered, once }: { entered: Entered; once: string },
  { mistakes, status } = UNSENT,
) {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: 'Create API key', section: 'keys', above: ['API keys', keys], status },
    <>
      <Head title="Create API key" />
      <Post c={c} to={keys} class="form once">
        <input type="hidden" name="once" value={once} autocomplete="off" />
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
        <ScopeChoice
          held={userOf(c).scopes}
          preset={entered.preset}
          ticked={entered.scopes}
          mistake={mistakes.scopes}
        />
        <ExpiryFields
          options={EXPIRIES}
          entered={entered}
          hint="After that, calls with the key fail with status 401. Rotating the key does not change when it expires."
          mistake={mistakes.expires_at}
        />
        <SubmitOrCancel label="Create API key" back={keys} />
      </Post>
    </>,
  )
}
