import type { KeyRow } from '../../../api-keys/key'
import { MAX_KEY_NAME } from '../../../api-keys/limits'
import { MintBody } from '../../../api-keys/mint'
import { UpdateKeyBody } from '../../../api-keys/update'
import { form, text } from '../../form'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { userOf } from '../../session'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { BOUNDS, BoundFields } from './bounds'
import { EXPIRIES, ExpiryFields, earlierThan } from './expiry'
import { CUSTOM, presetsFor, scopesIn } from './presets'
import { ScopeChoice } from './scope-choice'

const name = text('Name', { required: true, maxlength: MAX_KEY_NAME })
export const NEW_KEY = form(MintBody, { name, ...BOUNDS })
export const CHANGED_KEY = form(UpdateKeyBody, { name, ...BOUNDS })

/** The form as it is at first: the first preset, and an expiry. */
function blank(c: Visit): URLSearchParams {
  const [first] = presetsFor(userOf(c).scopes)
  return new URLSearchParams({ preset: first?.name ?? CUSTOM, expires: '90' })
}

/**
 * The form for a new API key. It offers the scopes that the user has.
 *
 * @param once the id that the key will have, signed: see `onceOf`
 */
export function createPage(c: Visit, once: string, { mistakes, status, entered = blank(c) }: Sent) {
  const { keys } = pathsOf(c)
  const held = userOf(c).scopes
  return show(
    c,
    { title: 'Create API key', section: 'keys', above: ['API keys', keys], status },
    <>
      <Head title="Create API key" />
      <Post c={c} to={keys} class="form once">
        <input type="hidden" name="once" value={once} autocomplete="off" />
        <Wrong>{mistakes.form}</Wrong>
        {NEW_KEY.field(
          'name',
          { mistakes, entered },
          { autofocus: true, hint: 'A label for the key, for example the server that uses it.' },
        )}
        <ScopeChoice
          held={held}
          preset={entered.get('preset') ?? CUSTOM}
          ticked={scopesIn(entered, held)}
          mistake={mistakes.scopes}
        />
        <ExpiryFields
          options={EXPIRIES}
          entered={entered}
          hint="Requests with the key fail with status 401 after that. Rotating the key does not change its expiry."
          mistake={mistakes.expires_at}
        />
        <BoundFields c={c} of={NEW_KEY} mistakes={mistakes} entered={entered} />
        <SubmitOrCancel label="Create API key" back={keys} />
      </Post>
    </>,
  )
}

/** The form that changes a key. It can expire earlier, but not later. */
export function editPage(c: Visit, row: KeyRow, { mistakes, status, ...sent }: Sent) {
  const path = `${pathsOf(c).keys}/${row.id}`
  const { expires_at } = row
  const entered = sent.entered ?? CHANGED_KEY.opened(row)
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
        {CHANGED_KEY.field('name', { mistakes, entered })}
        <ExpiryFields
          options={earlierThan(expires_at, c.get('rt').now)}
          entered={entered}
          hint={
            <>
              {expires_at === null ? 'The key never expires' : `The key expires at ${exact(expires_at)}`}. You can only
              move the expiry earlier. If you need a key for longer, create another one.
            </>
          }
          mistake={mistakes.expires_at}
        />
        <BoundFields c={c} of={CHANGED_KEY} mistakes={mistakes} entered={entered} />
        <p class="hint">The scopes of a key never change. For other scopes, create another key.</p>
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}
