import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { clientNamed } from '../../../lib/user-agent'
import { MAX_PASSKEY_NAME } from '../../../passkeys/limits'
import { type Refusal, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Field, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { NoPasskeys, PasskeyForm } from '../../ui/passkey-form'
import { PASSKEYS } from './list'

/** The form of a new passkey. @param next where to continue afterwards */
export function addPage(c: Context<HttpEnv>, next: string, name?: string, { mistakes, status }: Refusal = UNSENT) {
  const suggested = clientNamed(c.req.header('User-Agent') ?? null) ?? 'Passkey'
  return show(
    c,
    { title: 'Add a passkey', section: 'passkeys', above: ['Passkeys', PASSKEYS], passkeys: true, status },
    <section class="second">
      <h1>Add a passkey</h1>
      <p>
        Your browser asks where to keep the passkey: on this device, on a phone, or on a security key. It then signs you
        in as <strong>{userOf(c).email}</strong>.
      </p>
      <NoPasskeys />
      <Wrong>{mistakes.form ?? mistakes.credential}</Wrong>
      <PasskeyForm
        c={c}
        does="create"
        to={PASSKEYS}
        options={`${PASSKEYS}/options`}
        label="Add the passkey"
        next={next}
        primary
      >
        <Field
          name="name"
          label="Name"
          value={name ?? suggested}
          required
          maxlength={MAX_PASSKEY_NAME}
          hint="Only you see it. Name the device, so that you know which passkey to delete if you lose it."
          mistakes={mistakes}
        />
      </PasskeyForm>
    </section>,
  )
}
