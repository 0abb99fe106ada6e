import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MAX_PASSKEY_NAME, RECOVERY_CODES } from '../../../passkeys/limits'
import type { Passkey } from '../../../passkeys/passkey'
import { type Refusal, UNSENT } from '../../refusal'
import { Confirm } from '../../ui/confirm'
import { Field, Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { PASSKEYS } from './list'

const view = { section: 'passkeys', above: ['Passkeys', PASSKEYS] } as const

/** Asks before a passkey is deleted. @param last whether the user has no other */
export function deletePage(c: Context<HttpEnv>, { id, name }: Passkey, last: boolean) {
  return show(
    c,
    { ...view, title: 'Delete a passkey' },
    <Confirm
      c={c}
      title={`Delete the passkey “${name}”?`}
      to={`${PASSKEYS}/${id}/delete`}
      verb="Delete the passkey"
      back={PASSKEYS}
      danger
    >
      <p>
        It no longer signs you in. Your other sessions continue, but must use a passkey or a code again for important
        changes. Your device offers it until you remove it there too.
      </p>
      {last && (
        <p>
          It is your only passkey, so your recovery codes end too. A project that requires a passkey will ask you to add
          another one.
        </p>
      )}
    </Confirm>,
  )
}

/** Asks before the recovery codes are replaced. @param madeAt when they were made; null if there are none */
export function newCodesPage(c: Context<HttpEnv>, madeAt: number | null) {
  return show(
    c,
    { ...view, title: 'Make new recovery codes' },
    <Confirm
      c={c}
      title="Make new recovery codes?"
      to={`${PASSKEYS}/codes`}
      verb="Make new codes"
      back={PASSKEYS}
      choice={<input type="hidden" name="known" value={madeAt ?? ''} />}
    >
      <p>You get {RECOVERY_CODES} new codes, which are shown once. The old ones no longer work.</p>
      <p>Your other sessions continue, but must use a passkey or a code again for important changes.</p>
    </Confirm>,
  )
}

/** The form that renames a passkey. */
export function renamePage(
  c: Context<HttpEnv>,
  { id, name }: { id: string; name: string },
  { mistakes, status }: Refusal = UNSENT,
) {
  return show(
    c,
    { ...view, title: 'Rename a passkey', status },
    <>
      <h1>Rename a passkey</h1>
      <Post c={c} to={`${PASSKEYS}/${id}/rename`} class="form">
        <Field
          name="name"
          label="Name"
          value={name}
          required
          autofocus
          maxlength={MAX_PASSKEY_NAME}
          hint="Only you see it."
          mistakes={mistakes}
        />
        <button type="submit" class="primary">
          Save
        </button>
      </Post>
    </>,
  )
}
